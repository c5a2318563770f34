package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func entries(n int) driver.Config { return driver.Config{MaxEntries: n} }

func TestDriver(t *testing.T) {
	t.Run("is registered", func(t *testing.T) {
		if !slices.Contains(xcache.Drivers(), "memory") {
			t.Fatalf("drivers = %v, want memory included", xcache.Drivers())
		}
		m, err := xcache.Open(t.Context(), xcache.Options{Driver: "memory", Config: entries(7)})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.String(); got != "memory, at most 7 entries" {
			t.Errorf("String = %q, want the limit", got)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})

	t.Run("returns ErrConfig for invalid settings", func(t *testing.T) {
		for name, c := range invalid {
			if _, err := (memory.Driver{}).Open(t.Context(), c); !errors.Is(err, driver.ErrConfig) {
				t.Errorf("Open with %s = %v, want ErrConfig", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (memory.Driver{}).Open(ctx, driver.Config{}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("Open = %v, want the context's error", err)
		}
	})

	t.Run("sets the default TTL of the manager", func(t *testing.T) {
		m := open(t, driver.Config{Source: xenv.Map{"NOSQL_MEMORY_DEFAULT_TTL": "1h"}})
		c := xcache.KeyCacheOf[string, int](m)
		one := 1
		if err := c.Set(t.Context(), "k", &one); err != nil {
			t.Fatal(err)
		}
		if ttl, ok, err := c.TTL(t.Context(), "k"); !ok || err != nil || ttl <= 59*time.Minute ||
			ttl > time.Hour {
			t.Errorf("TTL = %s, %t, %v; want an hour", ttl, ok, err)
		}
	})
}

// writeKind writes a value of one of the four kinds.
func writeKind(tb testing.TB, s driver.Store, kind int, key string) {
	tb.Helper()
	var err error
	value := [][]byte{[]byte(key)}
	switch kind % 4 {
	case 0:
		_, err = s.Set(tb.Context(), key, value[0], driver.Write{})
	case 1:
		_, err = s.HashSet(tb.Context(), key, []driver.Field{{Name: "f", Value: value[0]}}, nil,
			driver.Write{})
	case 2:
		_, _, err = s.SetAdd(tb.Context(), key, value, driver.Write{TTL: time.Hour})
	default:
		_, _, err = s.ListPush(tb.Context(), key, driver.Tail, value, driver.Write{})
	}
	if err != nil {
		tb.Error(err)
	}
}

func TestStore_MaxEntries(t *testing.T) {
	t.Run("limits all kinds together and is used fully", func(t *testing.T) {
		for _, bound := range []int{1, 2, 3, 10, 31, 32, 33, 100, 1000} {
			store := openStore(t, entries(bound))
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := range 5 * bound {
						writeKind(t, store, i, fmt.Sprintf("%d-%d", w, i))
					}
				})
			}
			wg.Wait()
			live := 0
			for w := range 8 {
				for i := range 5 * bound {
					if ok, _ := store.Exists(t.Context(), fmt.Sprintf("%d-%d", w, i)); ok {
						live++
					}
				}
			}
			if live != bound {
				t.Errorf("%d live entries after 40 times as many writes, want the limit %d",
					live, bound)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	})

	t.Run("evicts no entry below the limit", func(t *testing.T) {
		for _, bound := range []int{1, 3, 32, 500} {
			store := openStore(t, entries(bound))
			for range 3 { // overwriting needs no space
				for i := range bound {
					writeKind(t, store, i, strconv.Itoa(i))
				}
			}
			for i := range bound {
				if ok, _ := store.Exists(t.Context(), strconv.Itoa(i)); !ok {
					t.Errorf("bound %d: key %d is missing", bound, i)
				}
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Eviction is partly random, so the test compares medians.
func TestStore_HitRatio(t *testing.T) {
	if raceDetector {
		t.Skip("slow with the race detector: a million reads in one goroutine")
	}
	const keys, size, length = 20_000, 2_000, 100_000
	trace := zipf(keys, length)
	names := make([]string, keys)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	var view, bare []float64
	for range 5 {
		c := xcache.KeyCacheOf[string, int](open(t, entries(size)))
		view = append(view, hitRatio(trace, func(k int32) bool {
			_, ok, err := c.Get(t.Context(), names[k])
			if v := int(k); err == nil && !ok {
				err = c.Set(t.Context(), names[k], &v, xcache.WithTTL(time.Hour))
			}
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}))
		engine := otter.Must(&otter.Options[string, int]{
			MaximumSize: size,
			Executor:    func(f func()) { f() },
		})
		bare = append(bare, hitRatio(trace, func(k int32) bool {
			_, ok := engine.GetIfPresent(names[k])
			if !ok {
				engine.Set(names[k], int(k))
			}
			return ok
		}))
	}
	slices.Sort(view)
	slices.Sort(bare)
	t.Logf("hit ratios %.4f, bare otter %.4f", view, bare)
	if view[2] < bare[2]-0.005 {
		t.Errorf("hit ratio = %.4f, want at least the engine's %.4f minus 0.005", view[2], bare[2])
	}
}

// hitRatio returns the ratio of hits in the trace. It inserts missing keys.
func hitRatio(trace []int32, get func(k int32) bool) float64 {
	hits := 0
	for _, k := range trace {
		if get(k) {
			hits++
		}
	}
	return float64(hits) / float64(len(trace))
}

func TestKeyCache_Get_Allocations(t *testing.T) {
	t.Run("allocates only the copy", func(t *testing.T) {
		m := open(t, entries(1000), xcache.WithPrefix("app:"))
		bare := open(t, entries(1000))
		v := account{ID: 1, Name: "Ada"}
		for _, tc := range []struct {
			name string
			get  func(ctx context.Context) (*account, bool, error)
			want float64
		}{
			{"string", getter1(t, bare, "k", &v), 1},
			{"string with a prefix", getter1(t, m, "k", &v), 1},
			{"int", getter1(t, m, 1<<40, &v), 1},
			{"ID", getter1(t, m, xsnowflake.SnowflakeID(1<<60), &v), 1},
			{"immutable string", getter1(t, bare, "i", &v, xcache.WithImmutable()), 0},
			{"immutable with a prefix", getter1(t, m, "i", &v, xcache.WithImmutable()), 0},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx := t.Context()
				got := testing.AllocsPerRun(1000, func() {
					if u, ok, err := tc.get(ctx); err != nil || !ok || u.ID != 1 {
						t.Fatal(u, ok, err)
					}
				})
				if got > tc.want {
					t.Errorf("allocations = %v, want at most %v", got, tc.want)
				}
			})
		}
	})

	// Go 1.26 and 1.27 inline Get, so the copy stays on the stack: 0 allocations. The
	// limit is one, for other compilers and for coverage builds; -gcflags=-m=2 prints the
	// inlining cost of Get.
	t.Run("allocates at most the copy if the value does not escape", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, account](open(t, entries(10)))
		if err := c.Set(t.Context(), "k", &account{ID: 1}); err != nil {
			t.Fatal(err)
		}
		ctx, ids := t.Context(), int64(0)
		got := testing.AllocsPerRun(1000, func() {
			v, ok, err := c.Get(ctx, "k")
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			ids += v.ID
			v.ID = 2 // a private copy
		})
		if got > 1 {
			t.Errorf("allocations = %v, want at most 1", got)
		}
		if v, _, _ := c.Get(ctx, "k"); v.ID != 1 || ids != 1001 {
			t.Errorf("the cache contains %d and the sum of the copies is %d, want 1 and 1001: "+
				"callers must receive copies", v.ID, ids)
		}
	})

	t.Run("allocates nothing for a miss", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, account](open(t, entries(10), xcache.WithPrefix("app:")))
		ctx := t.Context()
		if got := testing.AllocsPerRun(1000, func() { _, _, _ = c.Get(ctx, "none") }); got > 0 {
			t.Errorf("allocations = %v, want 0", got)
		}
	})
}

// getter1 sets a value under a key and returns a function that gets it.
func getter1[K comparable](
	t *testing.T, m *xcache.Manager, key K, v *account, opts ...xcache.ViewOption,
) func(ctx context.Context) (*account, bool, error) {
	t.Helper()
	c := xcache.KeyCacheOf[K, account](m, opts...)
	if err := c.Set(t.Context(), key, v); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (*account, bool, error) { return c.Get(ctx, key) }
}

func TestWithImmutable(t *testing.T) {
	type page struct{ Lines []string }
	m := open(t, entries(10))
	shared := xcache.KeyCacheOf[string, page](m, xcache.WithImmutable())
	if err := shared.Set(t.Context(), "k", &page{Lines: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	first, _, err := shared.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := shared.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if first != second || first.Lines[0] != "a" {
		t.Errorf("two Gets = %p, %p; want one value", first, second)
	}
	unshared, ok, err := xcache.KeyCacheOf[string, page](m).Get(t.Context(), "k")
	if err != nil || !ok || unshared == first || &unshared.Lines[0] == &first.Lines[0] {
		t.Errorf("a view without WithImmutable returned %v, %t, %v; want a deep copy",
			unshared, ok, err)
	}
}

func TestStore_TTL(t *testing.T) {
	c := xcache.KeyCacheOf[string, int](open(t, entries(10)))
	one := 1
	for range 20 {
		const ttl = 15 * time.Millisecond
		before := time.Now()
		if err := c.Set(t.Context(), "k", &one, xcache.WithTTL(ttl)); err != nil {
			t.Fatal(err)
		}
		for {
			_, ok, err := c.Get(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
		}
		if elapsed := time.Since(before); elapsed < ttl {
			t.Fatalf("the key expired after %s, want at least %s", elapsed, ttl)
		}
	}
}

func TestStore_Close(t *testing.T) {
	m := open(t, entries(50))
	c := xcache.KeyCacheOf[int, int](m)
	l := xcache.ListCacheOf[int, int](m)
	var wg sync.WaitGroup
	ready := make(chan struct{}, 8)
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if i == 100 {
					ready <- struct{}{}
				}
				err := c.Set(t.Context(), w*1000+i%200, &i)
				if _, e := l.Append(t.Context(), -i%100, []int{i}); err == nil &&
					!errors.Is(e, xcache.ErrWrongType) {
					err = e
				}
				if err != nil {
					if !errors.Is(err, xcache.ErrClosed) {
						t.Errorf("a call during Close = %v, want ErrClosed", err)
					}
					return
				}
			}
		})
	}
	for range 8 {
		<-ready
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, ok, err := c.Get(t.Context(), 1); ok || !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Get after Close = %t, %v; want ErrClosed", ok, err)
	}
}
