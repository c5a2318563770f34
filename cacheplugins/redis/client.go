package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

var errCluster = errors.New("redis: a cluster has another kind of client; take it with GetUniversal")

// GetUniversal returns the client under the cache, whatever the mode. Its keys are the
// server's: NOSQL_PREFIX is not before them. The cache closes it.
//
// The client ends calls at the deadline of their context, or after 5 seconds, and sends a
// command once. On a cluster it sends each command to one server: one that is about all
// servers, or about keys on several, is the caller's to spread.
func GetUniversal(ctx context.Context) (redis.UniversalClient, *xerror.Error) {
	return xctxutil.Get[redis.UniversalClient](ctx, xctx.RedisClientKey)
}

// MustGetUniversal is GetUniversal for an application that has a Redis: it panics where
// there is none.
func MustGetUniversal(ctx context.Context) redis.UniversalClient {
	return xctxutil.MustGet[redis.UniversalClient](ctx, xctx.RedisClientKey)
}

// GetRDB is GetUniversal for one server, or servers behind Sentinel. The client of a
// cluster is of another type: that is an error, which says so.
func GetRDB(ctx context.Context) (*redis.Client, *xerror.Error) {
	c, err := GetUniversal(ctx)
	if err != nil {
		return nil, err
	}
	if one, ok := c.(*redis.Client); ok {
		return one, nil
	}
	return nil, xerror.Wrap(xerror.CacheError, "", errCluster)
}

// MustGetRDB is GetRDB for an application that has a Redis which is no cluster: it panics
// otherwise.
func MustGetRDB(ctx context.Context) *redis.Client {
	c, err := GetRDB(ctx)
	if err != nil {
		panic(err)
	}
	return c
}
