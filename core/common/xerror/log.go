package xerror

import (
	"context"
	"log/slog"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// logWarn writes the line of an error that is thrown.
func logWarn(ctx context.Context, e *Error) { xlog.Warn(ctx, logMessage(e), logAttrs(e)...) }

// logError writes the line of an internal error.
func logError(ctx context.Context, e *Error) { xlog.Error(ctx, logMessage(e), logAttrs(e)...) }

func logMessage(e *Error) string {
	if e.message != "" {
		return string(e.message)
	}
	return e.code.GetMessage()
}

// logAttrs returns what a line says beside message and request id. The data is the client's and stays
// out of the log.
func logAttrs(e *Error) []slog.Attr {
	attrs := []slog.Attr{slog.Int("code", e.code.GetCode()), slog.String("output", e.code.GetOutput())}
	if e.cause != nil {
		attrs = append(attrs, slog.Any("cause", e.cause))
	}
	return attrs
}
