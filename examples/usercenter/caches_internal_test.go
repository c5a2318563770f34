//go:build unix

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// redis returns variables that select the Redis server for tests, under a key prefix that
// is removed after the test. Because the prefix is empty, the first ID waits for part
// of the TTL.
func redis(t *testing.T) []string {
	t.Helper()
	const variable xenv.EnvKey = "PLINTH_TEST_REDIS_URL"
	url, ok := xenv.GetEnv(variable)
	if !ok {
		t.Skip(variable.String() +
			" is not set; `make test` starts the servers whose binaries it finds on the machine")
	}
	prefix := fmt.Sprintf("uc%d:", time.Now().UnixNano()%1e9)
	t.Cleanup(func() {
		if err := remove(context.WithoutCancel(t.Context()), url, prefix); err != nil {
			t.Error(err)
		}
	})
	return []string{
		xenv.NoSqlDriver.String() + "=redis",
		xenv.NoSqlURL.String() + "=" + url, xenv.NoSqlPrefix.String() + "=" + prefix,
		"SNOWFLAKE_LEASE_TTL=3s",
	}
}

// remove deletes the keys with a prefix, including those of leases.
func remove(ctx context.Context, url, prefix string) error {
	m, err := xcache.Open(ctx,
		xcache.Options{Driver: "redis", Config: driver.Config{URL: url, PoolSize: 1}})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	var keys []string
	err = m.Store().(driver.Scanner).Scan(ctx, prefix, func(page []string) bool {
		keys = append(keys, page...)
		return true
	})
	if err == nil && len(keys) > 0 {
		_, err = m.Store().Delete(ctx, keys...)
	}
	return err
}

func TestConversation_Caches(t *testing.T) {
	t.Parallel()
	env := redis(t)
	compare(t, runSteps(t, env...), runSteps(t))
}
