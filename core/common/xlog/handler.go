package xlog

import (
	"context"
	"log/slog"
	"slices"
)

// handler is the slog.Handler of a named logger, which may be nil.
type handler struct {
	*LogNamedLogger

	scopes []scope // the groups that WithGroup opened, after a first one without a name
}

// scope is a group and the attributes that WithAttrs put into it.
type scope struct {
	group string
	attrs []slog.Attr
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	ln := h.target(ctx).line()
	ln.begin(requestID(ctx), r.Time, r.Level, h.nameMember(), r.Message)
	ln.addScopes(h.scopes, &r)
	ln.event.Send()
	return nil
}

// addScopes appends the attributes of the first scope, and the others inside it; the record's are in
// the last.
func (ln *line) addScopes(scopes []scope, r *slog.Record) {
	if len(scopes) > 0 {
		for i := range scopes[0].attrs {
			ln.add(&scopes[0].attrs[i])
		}
	}
	if len(scopes) <= 1 {
		r.Attrs(func(a slog.Attr) bool {
			ln.add(&a)
			return true
		})
		return
	}
	group := ln.open()
	group.addScopes(scopes[1:], r)
	ln.close(scopes[1].group, group)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	out := h.clone()
	last := &out.scopes[len(out.scopes)-1]
	last.attrs = slices.Concat(last.attrs, attrs)
	return out
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	out := h.clone()
	out.scopes = append(out.scopes, scope{group: name})
	return out
}

// clone returns a copy that has a scope at least.
func (h *handler) clone() *handler {
	out := *h
	out.scopes = slices.Clone(h.scopes)
	if len(out.scopes) == 0 {
		out.scopes = []scope{{}}
	}
	return &out
}
