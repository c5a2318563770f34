package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

var errCluster = errors.New(
	"redis: the client of a cluster is not a *redis.Client; use GetUniversal")

// GetUniversal returns the client of the cache in any mode. Its keys do not include
// NOSQL_PREFIX. The cache closes the client.
//
// Calls return at the deadline of their context or after 5 seconds, and commands are not
// retried. In a cluster each command is sent to one server; the caller must split
// commands for all servers or for keys on several servers.
func GetUniversal(ctx context.Context) (redis.UniversalClient, *xerror.Error) {
	return xctxutil.Get[redis.UniversalClient](ctx, xctx.RedisClientKey)
}

// MustGetUniversal is like GetUniversal but panics if the context has no Redis client.
func MustGetUniversal(ctx context.Context) redis.UniversalClient {
	return xctxutil.MustGet[redis.UniversalClient](ctx, xctx.RedisClientKey)
}

// GetRDB is GetUniversal for a single server or Sentinel. In a cluster it returns an
// error, because the client has another type.
func GetRDB(ctx context.Context) (*redis.Client, *xerror.Error) {
	c, err := GetUniversal(ctx)
	if err != nil {
		return nil, err
	}
	if single, ok := c.(*redis.Client); ok {
		return single, nil
	}
	return nil, xerror.Wrap(xerror.CacheError, "", errCluster)
}

// MustGetRDB is like GetRDB but panics if it fails.
func MustGetRDB(ctx context.Context) *redis.Client {
	c, err := GetRDB(ctx)
	if err != nil {
		panic(err)
	}
	return c
}
