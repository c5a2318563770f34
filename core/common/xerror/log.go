package xerror

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// unnamed is the nil logger, whose lines have no name.
var unnamed *xlog.LogNamedLogger

// log writes the line of an error that is made, at WARN or at ERROR: message, code and
// cause. The data is the client's and stays out of the log.
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
	unnamed.Log(ctx, level, message, attrs...)
}
