package redis_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// copies is a minimal in-process store for a near cache. Applications use the memory
// backend.
type copies struct {
	driver.Store

	mu      sync.RWMutex
	objects map[string]expiringEntry
	hits    atomic.Int64 // all reads, including stale ones
}

type expiringEntry struct {
	*driver.Entry

	end time.Time
}

func (c *copies) GetObject(_ context.Context, key string) (*driver.Entry, bool, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	m, ok := c.objects[key]
	if !ok || !time.Now().Before(m.end) {
		return nil, false, nil
	}
	c.hits.Add(1)
	return m.Entry, true, nil
}

func (c *copies) SetObject(
	_ context.Context, key string, e *driver.Entry, w driver.Write,
) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[key] = expiringEntry{e, time.Now().Add(w.TTL)}
	return true, nil
}

func (c *copies) Delete(_ context.Context, keys ...string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.objects, key)
	}
	return 0, nil
}

func (*copies) Close() error { return nil }

func newCopies() *copies { return &copies{objects: map[string]expiringEntry{}} }

// process simulates one process: a manager with a near cache and a view of numbers.
type process struct {
	*xcache.KeyCache[string, int]

	m         *xcache.Manager
	client    *goredis.Client
	copies    *copies
	near      atomic.Int64 // hits of the near cache
	staleness time.Duration
}

// openNear returns a process whose watch is up.
func openNear(tb testing.TB, url, prefix string) *process {
	tb.Helper()
	store, err := redis.Driver{}.Open(tb.Context(), driver.Config{URL: url, PoolSize: 16})
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{copies: newCopies()}
	count := func(_ context.Context, e xcache.Event) {
		if e.Near {
			p.near.Add(1)
		}
	}
	p.m, err = xcache.New(store, xcache.WithPrefix(prefix), func(o *xcache.Options) {
		o.NearStore, o.NearTTL = p.copies, time.Minute
	}, xcache.WithMetrics(count))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.m.Close(); err != nil {
			tb.Errorf("Close = %v", err)
		}
	})
	p.KeyCache = xcache.KeyCacheOf[string, int](p.m)
	p.client, _ = p.m.Values()[xctx.RedisClientKey].(*goredis.Client)
	i, _ := store.(driver.Invalidator)
	p.staleness = i.Staleness()
	p.warm(tb, "first")
	return p
}

// value reads a number; 0 means a missing key.
func (p *process) value(tb testing.TB, key string) int {
	tb.Helper()
	v, ok, err := p.Get(tb.Context(), key)
	if err != nil {
		tb.Fatal(err)
	}
	if !ok {
		return 0
	}
	return *v
}

// warm reads until the near cache has a hit, which requires that the watch is up.
func (p *process) warm(tb testing.TB, key string) {
	tb.Helper()
	one := 1
	until(tb, 10*time.Second, "write", func() bool { // the server may have just restarted
		return p.Set(tb.Context(), key, &one, xcache.WithNX(), xcache.WithTTL(time.Hour)) == nil
	})
	before := p.near.Load()
	until(tb, 10*time.Second, "a hit of the near cache", func() bool {
		p.value(tb, key)
		return p.near.Load() > before
	})
}

// until waits for a condition and returns the elapsed time.
func until(tb testing.TB, within time.Duration, what string, done func() bool) time.Duration {
	tb.Helper()
	start := time.Now()
	for !done() {
		if time.Since(start) > within {
			tb.Fatalf("no %s within %s", what, within)
		}
		<-time.After(100 * time.Microsecond)
	}
	return time.Since(start)
}

// history contains the increasing numbers of a key, and the time after each was written.
type history struct {
	mu    sync.Mutex
	since []time.Time
}

// add records the next number after write has written it.
func (h *history) add(write func(n int) error) error {
	h.mu.Lock()
	n := len(h.since) + 1
	h.mu.Unlock()
	if err := write(n); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = append(h.since, time.Now())
	return nil
}

// lag returns the staleness of n at a time: the duration since the next number was
// written.
func (h *history) lag(n int, at time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n >= len(h.since) {
		return 0
	}
	return max(at.Sub(h.since[n]), 0)
}

func (h *history) last() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.since)
}

// lags collects the staleness of reads.
type lags struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *lags) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// String reports the number of reads, of stale reads, and the maximum staleness.
func (l *lags) String() string {
	slices.Sort(l.all)
	fresh, _ := slices.BinarySearch(l.all, 1)
	return strconv.Itoa(len(l.all)) + " reads, " + strconv.Itoa(len(l.all)-fresh) +
		" of them stale, maximum staleness " + l.worst().String()
}

func (l *lags) worst() time.Duration {
	if len(l.all) == 0 {
		return 0
	}
	return slices.Max(l.all)
}
