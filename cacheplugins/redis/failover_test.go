package redis_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// openServers opens servers by URL.
func openServers(t *testing.T, url string) *xcache.Manager {
	t.Helper()
	m, err := xcache.Open(t.Context(), xcache.Options{
		Driver: "redis", Config: driver.Config{URL: url, PoolSize: 16},
		ConnectTimeout: 10 * time.Second,
		Prefix:         "failover:",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return m
}

// mixed returns calls of every kind of view, which must succeed while the server is
// available.
func mixed(m *xcache.Manager) func(ctx context.Context, worker, i int) error {
	keys := xcache.KeyCacheOf[string, int](m)
	hashes := xcache.HashCacheOf[string, string, int, struct{}](m)
	lists := xcache.ListCacheOf[string, int](m)
	return func(ctx context.Context, worker, i int) (err error) {
		name := strconv.Itoa(worker)
		switch i % 6 {
		case 0:
			return keys.Set(ctx, "key:"+name, &i)
		case 1:
			_, _, err = keys.Get(ctx, "key:"+name)
		case 2:
			return hashes.Set(ctx, "hash:"+name, "field", &i, xcache.WithTTL(time.Minute))
		case 3:
			_, err = hashes.GetAll(ctx, "hash:"+name)
		case 4:
			_, err = lists.Append(ctx, "list:"+name, []int{i}, xcache.WithTTL(time.Minute))
		default:
			_, _, err = lists.Pop(ctx, "list:"+name)
		}
		return err
	}
}

func TestServer_Restart(t *testing.T) {
	t.Run("recovers from a killed server under load", func(t *testing.T) {
		s := cachetest.StartServers(t, "redis")
		m := openServers(t, s.URL)
		l := beginLoad(8, deadline, mixed(m))
		sleep(time.Second)
		if err := s.Kill(""); err != nil {
			t.Fatal(err)
		}
		sleep(1500 * time.Millisecond)
		if err := s.Start(""); err != nil {
			t.Fatal(err)
		}
		up := time.Now()
		recovered := l.allSucceeded(up, 5*time.Second)
		sleep(500 * time.Millisecond)
		l.end()
		if !recovered {
			t.Error("not every goroutine succeeded within 5 s after the restart")
		}
		l.wantBounded(t)
		if l.failed == 0 {
			t.Error("no call failed during the outage")
		}
		s.Note("server restarted, 8 goroutines: %s; all goroutines succeeded %s after the start",
			l, round(l.recovered.Sub(up)))
	})

	t.Run("recovers from a paused server under load", func(t *testing.T) {
		s := cachetest.StartServers(t, "redis")
		l := beginLoad(8, deadline, mixed(openServers(t, s.URL)))
		sleep(500 * time.Millisecond)
		err := s.Pause("")
		sleep(1500 * time.Millisecond)
		err = errors.Join(err, s.Continue(""))
		up := time.Now()
		recovered := l.allSucceeded(up, 5*time.Second)
		l.end()
		if err != nil {
			t.Fatal(err)
		}
		if !recovered {
			t.Error("not every goroutine succeeded within 5 s after the server continued")
		}
		l.wantBounded(t)
		s.Note("server paused for 1.5 s, 8 goroutines: %s; all goroutines succeeded %s later",
			l, round(l.recovered.Sub(up)))
	})
}
