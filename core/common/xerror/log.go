package xerror

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// logger is nil, so its lines have no logger name.
var logger *xlog.LogNamedLogger

// log logs the message, code and cause at level. It omits the data, which belongs to the
// client.
func (e *Error) log(ctx context.Context, level slog.Level) {
	e.loggedAt = level
	message := cmp.Or(string(e.message), e.code.GetMessage())
	attrs := []slog.Attr{
		slog.Int("code", e.code.GetCode()),
		slog.String("output", e.code.GetOutput()),
	}
	if e.cause != nil {
		attrs = append(attrs, slog.Any("cause", e.cause))
	}
	logger.Log(ctx, level, message, attrs...)
}
