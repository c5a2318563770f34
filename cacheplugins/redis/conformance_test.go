package redis_test

import (
	"context"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestConformance(t *testing.T) {
	address, source := server(t)
	cachetest.Run(t, cachetest.Harness{
		Driver: redis.Driver{},
		Config: func(tb testing.TB) driver.Config { return parts(tb, address) },
		Source: source,
		Server: version(t, client(t, address)),
		Invalid: map[string]driver.Config{
			"unknown URL scheme":    {URL: "http://localhost"},
			"unknown mode":          {Source: xenv.Map{"NOSQL_MODE": "ring"}},
			"missing master":        {Source: xenv.Map{"NOSQL_MODE": "sentinel"}},
			"two hosts":             {Host: "a,b"},
			"database of a cluster": {Database: 1, Source: xenv.Map{"NOSQL_MODE": "cluster"}},
			"unknown TLS mode":      {TLS: "on"},
		},
		Outage: func(tb testing.TB) cachetest.Outage {
			return cachetest.PrivateOutage(tb, "redis",
				func(url string) driver.Config { return parts(tb, url) }, parts(tb, address))
		},
		RoundTrips: roundTrips,
	})
}

func TestConformance_SentinelAndCluster(t *testing.T) {
	for _, kind := range []string{"redis-sentinel", "redis-cluster"} {
		t.Run(kind, func(t *testing.T) {
			s := cachetest.StartServers(t, kind)
			cachetest.Run(t, cachetest.Harness{
				Driver:     redis.Driver{},
				Config:     func(testing.TB) driver.Config { return driver.Config{URL: s.URL} },
				RoundTrips: roundTrips,
			})
		})
	}
}

// clientOf returns the client of a store.
func clientOf(s driver.Store) goredis.UniversalClient {
	return s.(driver.Provider).Values()[xctx.RedisClientKey].(goredis.UniversalClient)
}

// roundTrips counts the round trips of the client.
func roundTrips(s driver.Store, run func()) int {
	c := &counter{}
	clientOf(s).AddHook(c)
	run()
	return int(c.sent.Load())
}

// counter is a hook that counts commands and pipelines, except those of new connections.
type counter struct{ sent atomic.Int32 }

// DialHook implements the client's Hook.
func (*counter) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements the client's Hook.
func (c *counter) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if cmd.Name() != "hello" {
			c.sent.Add(1)
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements the client's Hook.
func (c *counter) ProcessPipelineHook(
	next goredis.ProcessPipelineHook,
) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		c.sent.Add(1)
		return next(ctx, cmds)
	}
}
