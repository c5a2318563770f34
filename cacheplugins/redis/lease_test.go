package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/conformance/leasetest"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// leases is the key prefix.
const leases = "leases:"

// openLeases opens the backend by URL, also in the processes of leasetest.
func openLeases(address string) (b leasedriver.Backend, done func(), err error) {
	s, err := redis.Driver{}.Open(context.Background(), driver.Config{URL: address})
	if err != nil {
		return nil, nil, err
	}
	l, ok := s.(driver.Leaser)
	if !ok {
		return nil, nil, errors.Join(errors.New("the store does not support leases"), s.Close())
	}
	return confirmed{l.LeaseBackend(leases)}, func() { _ = s.Close() }, nil
}

// client returns a client for a URL that bypasses the store.
func client(tb testing.TB, address string) goredis.UniversalClient {
	tb.Helper()
	s, err := redis.Driver{}.Open(context.Background(), driver.Config{URL: address})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s.(driver.Provider).Values()[xctx.RedisClientKey].(goredis.UniversalClient)
}

// forget deletes the records of a name.
func forget(c goredis.UniversalClient) func(tb testing.TB, name string) {
	return func(tb testing.TB, name string) {
		tb.Helper()
		if err := c.Del(context.Background(), leases+name).Err(); err != nil {
			tb.Error(err)
		}
	}
}

// version returns the version that the server reports.
func version(tb testing.TB, c goredis.UniversalClient) string {
	tb.Helper()
	info, err := c.Info(tb.Context(), "server").Result()
	if err != nil {
		tb.Fatal(err)
	}
	_, after, _ := strings.Cut(info, "redis_version:")
	number, _, _ := strings.Cut(after, "\r\n")
	return "Redis " + number
}

// confirmed retries Acquire if no replica confirms it in time, which can happen on a busy
// machine.
type confirmed struct{ leasedriver.Backend }

// Acquire implements leasedriver.Backend.
func (c confirmed) Acquire(
	ctx context.Context, r leasedriver.Request,
) (g leasedriver.Grant, err error) {
	for range 10 {
		if g, err = c.Backend.Acquire(ctx, r); !errors.Is(err, redis.ErrUnconfirmed) {
			break
		}
	}
	return g, err
}

// runLeases runs the lease conformance suite.
func runLeases(t *testing.T, address, source, kind string) {
	t.Helper()
	c := client(t, address)
	leasetest.Run(t, leasetest.Harness{
		Open: func(tb testing.TB) leasedriver.Backend {
			tb.Helper()
			b, done, err := openLeases(address)
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(done)
			return b
		},
		Forget: forget(c), Source: source, Server: version(t, c) + kind,
	})
}

func TestStore_LeaseBackend(t *testing.T) {
	t.Run("passes the lease conformance suite", func(t *testing.T) {
		address, source := server(t)
		runLeases(t, address, source, "")
	})

	t.Run("passes the lease conformance suite with Sentinel", func(t *testing.T) {
		runLeases(t, cachetest.StartServers(t, "redis-sentinel").URL, "private server",
			", sentinels")
	})

	t.Run("passes the lease conformance suite in a cluster", func(t *testing.T) {
		runLeases(t, cachetest.StartServers(t, "redis-cluster").URL, "private server", ", cluster")
	})
}

func TestNodes(t *testing.T) {
	address := cachetest.StartServers(t, "redis").URL
	c := client(t, address)
	leasetest.Nodes(t, leasetest.NodesHarness{
		Address: address, Forget: forget(c),
		Source: "private server", Server: version(t, c),
	})
}
