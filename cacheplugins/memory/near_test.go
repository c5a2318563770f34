package memory_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// bytesOnly is a fake server: a store without objects that reports changes when the test
// triggers them.
type bytesOnly struct {
	driver.Store

	watcher driver.Watcher
	trips   atomic.Int64
}

func (s *bytesOnly) Watch(_ context.Context, _ string, w driver.Watcher) error {
	s.watcher = w
	w.Connected()
	return nil
}

func (*bytesOnly) Staleness() time.Duration { return time.Second }

func (s *bytesOnly) GetTTL(
	ctx context.Context, key string,
) (value []byte, ttl time.Duration, ok bool, err error) {
	value, ok, err = s.Get(ctx, key)
	return value, 0, ok, err
}

func (s *bytesOnly) GetManyTTL(
	ctx context.Context, keys []string,
) (values [][]byte, ttls []time.Duration, err error) {
	values, ttls = make([][]byte, len(keys)), make([]time.Duration, len(keys))
	for i, key := range keys {
		if values[i], _, err = s.Get(ctx, key); err != nil {
			return nil, nil, err
		}
	}
	return values, ttls, nil
}

func (s *bytesOnly) Get(ctx context.Context, key string) ([]byte, bool, error) {
	s.trips.Add(1)
	return s.Store.Get(ctx, key)
}

// openNear returns a manager of a fake server with this backend as its near cache.
func openNear(
	tb testing.TB, entries int, ttl time.Duration, opts ...xcache.ManagerOption,
) (*xcache.Manager, *bytesOnly) {
	tb.Helper()
	far, err := memory.Driver{}.Open(tb.Context(), driver.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	near, err := memory.Driver{}.Open(tb.Context(), driver.Config{MaxEntries: entries})
	if err != nil {
		tb.Fatal(err)
	}
	server := &bytesOnly{Store: far}
	m, err := xcache.New(server,
		append(opts, func(o *xcache.Options) { o.NearStore, o.NearTTL = near, ttl })...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m, server
}

func TestNearCache(t *testing.T) {
	const bound, ttl = 100, 50 * time.Millisecond
	m, server := openNear(t, bound, ttl)
	c := xcache.KeyCacheOf[int, account](m)
	ctx := t.Context()
	read := func(key int, name string) (trips int64) {
		t.Helper()
		before := server.trips.Load()
		if v, ok, err := c.Get(ctx, key); err != nil || !ok || v.Name != name {
			t.Fatalf("Get = %v, %t, %v; want %s", v, ok, err, name)
		}
		return server.trips.Load() - before
	}
	for i := range 10 * bound {
		if err := c.Set(ctx, i, &account{Name: "Ada"}); err != nil {
			t.Fatal(err)
		}
	}
	read(0, "Ada")
	if read(0, "Ada") != 0 {
		t.Error("the second read queried the server")
	}
	if _, err := server.Set(ctx, "0", []byte(`{"Name":"Eve"}`), driver.Write{}); err != nil {
		t.Fatal(err)
	}
	server.watcher.Invalidate([]string{"0"})
	read(0, "Eve")
	server.watcher.Invalidate(nil)
	if read(0, "Eve") != 1 {
		t.Error("a read after the invalidation of all keys did not query the server")
	}
	start := time.Now()
	for read(0, "Eve") == 0 {
		if time.Since(start) > 20*ttl {
			t.Fatalf("a copy outlived its TTL of %s", ttl)
		}
	}
	for i := range 10 * bound {
		read(i, map[bool]string{true: "Eve", false: "Ada"}[i == 0])
	}
	near := 0
	for i := range 10 * bound {
		near += 1 - int(read(i, map[bool]string{true: "Eve", false: "Ada"}[i == 0]))
	}
	if near > 2*bound { // some were stored during the second round
		t.Errorf("%d hits, want at most about %d", near, bound)
	}
}

func TestNearCache_Allocations(t *testing.T) {
	m, _ := openNear(t, 1000, time.Hour, xcache.WithPrefix("app:"))
	v := account{ID: 1, Name: "Ada"}
	for name, tc := range map[string]struct {
		get  func(ctx context.Context) (*account, bool, error)
		want float64
	}{
		"escapes":   {getter1(t, m, 1<<40, &v), 1},
		"immutable": {getter1(t, m, "i", &v, xcache.WithImmutable()), 0},
	} {
		ctx := t.Context()
		got := testing.AllocsPerRun(1000, func() {
			if u, ok, err := tc.get(ctx); err != nil || !ok || u.ID != 1 {
				t.Fatal(u, ok, err)
			}
		})
		if got > tc.want {
			t.Errorf("%s: allocations = %v, want at most %v", name, got, tc.want)
		}
	}
}

// BenchmarkNearHit measures hits of the near cache for one key and for many.
func BenchmarkNearHit(b *testing.B) {
	for _, keys := range []int{1, 1000} {
		for name, opts := range map[string][]xcache.ManagerOption{
			"bare": nil, "prefixed": {xcache.WithPrefix("app:")},
		} {
			b.Run(name+"/keys="+strconv.Itoa(keys), func(b *testing.B) {
				m, server := openNear(b, 2000, time.Hour, opts...)
				c, ctx := xcache.KeyCacheOf[string, account](m), b.Context()
				names := benchKeys()[:keys]
				for _, key := range names {
					if err := c.Set(ctx, key, &account{ID: 1, Name: "Ada"}); err != nil {
						b.Fatal(err)
					}
					if _, _, err := c.Get(ctx, key); err != nil {
						b.Fatal(err)
					}
				}
				trips := server.trips.Load()
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if v, ok, err := c.Get(ctx, names[i%keys]); err != nil || !ok || v.Name == "" {
						b.Fatal(ok, err)
					}
				}
				if server.trips.Load() != trips {
					b.Error("a read was a miss")
				}
			})
		}
	}
}
