package snippets_test

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/cacheplugins/redis"
)

// visits is compiled but not run, because it needs a server.
func visits(ctx context.Context) (int64, error) {
	rdb := redis.MustGetRDB(ctx)       // *redis.Client: one server, or Sentinel
	all := redis.MustGetUniversal(ctx) // redis.UniversalClient: any mode
	n, err := rdb.Incr(ctx, "app:visits").Result()
	return n, errors.Join(err, all.Ping(ctx).Err())
}

var _ = visits
