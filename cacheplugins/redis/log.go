package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// The client writes to the standard error, about connections that it could not make and
// masters that it has found. There is one logger in the process for all its clients, and
// it must not change while one is used. So it is replaced here and not in Open: an
// application that sets its own in main has the last word.
func init() { redis.SetLogger(logger{}) }

// logger writes what the client has to say for developers. What matters of it the callers
// get as errors.
type logger struct{}

var log = xlog.WithName(xlog.NamedCACHE, "redis")

// Printf implements the client's interface.
func (logger) Printf(ctx context.Context, format string, args ...any) {
	if log.Enabled(ctx, slog.LevelDebug) {
		text, _, _ := strings.Cut(fmt.Sprintf(format, args...), ", with args beginning with")
		log.Debug(ctx, "go-redis", slog.String("text", text))
	}
}
