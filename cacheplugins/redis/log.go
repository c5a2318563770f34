package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// go-redis logs to the standard error by default. Its logger is global and must not
// change while a client is used. It is set in init and not in Open, so that an
// application can replace it in main.
func init() { redis.SetLogger(logger{}) }

// logger writes the log of go-redis at debug level. Callers receive relevant problems as
// errors.
type logger struct{}

var log = xlog.WithName(xlog.NamedCACHE, "redis")

// Printf implements the client's interface.
func (logger) Printf(ctx context.Context, format string, args ...any) {
	if log.Enabled(ctx, slog.LevelDebug) {
		text, _, _ := strings.Cut(fmt.Sprintf(format, args...), ", with args beginning with")
		log.Debug(ctx, "go-redis", slog.String("text", text))
	}
}
