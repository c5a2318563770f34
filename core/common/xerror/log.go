package xerror

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// log writes the line of an error that is made, at WARN or at ERROR: message, code and cause. The data is the
// client's and stays out of the log.
func (e *Error) log(ctx context.Context, level slog.Level) {
	e.logged, e.atError = true, level == slog.LevelError
	message := cmp.Or(string(e.message), e.code.GetMessage())
	attrs := []slog.Attr{slog.Int("code", e.code.GetCode()), slog.String("output", e.code.GetOutput())}
	if e.cause != nil {
		attrs = append(attrs, slog.Any("cause", e.cause))
	}
	if e.atError {
		xlog.Error(ctx, message, attrs...)
	} else {
		xlog.Warn(ctx, message, attrs...)
	}
}

// logMapperPanic reports a mapper that panicked. From has no context, so the line has no request id.
func logMapperPanic(p any) {
	xlog.Error(context.Background(), "error mapper panicked", slog.String("panic", fmt.Sprint(p)))
}
