package xlog

import (
	"context"
	"log/slog"
	"slices"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

type handler struct {
	*LogNamedLogger

	scopes []scope
}

// scope is a group added by WithGroup, or a list of attributes added by WithAttrs. A
// group contains all later scopes.
type scope struct {
	group string
	attrs []slog.Attr
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	ln := h.target(ctx).line()
	ln.addHead(xctx.RequestID(ctx), r.Time, r.Level, h.nameMember(), r.Message)
	ln.addScopes(h.scopes, &r)
	ln.event.Send()
	return nil
}

// addScopes adds the scopes. The attributes of the record belong to the last group.
func (ln *line) addScopes(scopes []scope, r *slog.Record) {
	if len(scopes) == 0 {
		r.Attrs(func(a slog.Attr) bool {
			ln.add(&a)
			return true
		})
		return
	}
	first, rest := &scopes[0], scopes[1:]
	if first.group == "" {
		ln.addAll(first.attrs)
		ln.addScopes(rest, r)
		return
	}
	group := ln.open()
	group.addScopes(rest, r)
	ln.close(first.group, group)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler { return h.with(scope{attrs: attrs}) }

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler { return h.with(scope{group: name}) }

func (h *handler) with(s scope) *handler {
	return &handler{LogNamedLogger: h.LogNamedLogger, scopes: append(slices.Clip(h.scopes), s)}
}
