package river

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// logHandler reports River's errors, which concern the server, to onError, and writes
// River's warnings to the log. Package job logs the outcomes of jobs.
type logHandler struct {
	onError func(ctx context.Context, operation string, err error)
	attrs   []slog.Attr
}

// Enabled implements slog.Handler.
func (*logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelError {
		return xlog.WithName(xlog.NamedTASK).Slog().Handler().WithAttrs(h.attrs).Handle(ctx, r)
	}
	text := "no reason"
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" || a.Key == "error" {
			text = a.Value.String()
		}
		return true
	})
	h.onError(ctx, r.Message, errors.New(text))
	return nil
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{h.onError, append(slices.Clip(h.attrs), attrs...)}
}

// WithGroup implements slog.Handler. River does not use groups.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
