package memory_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// setClock is a clock that the test advances.
type setClock struct {
	mu  sync.Mutex
	now time.Time
}

func newSetClock() *setClock { return &setClock{now: time.Unix(1_700_000_000, 123)} }

func (c *setClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *setClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// objects is the subset of the store that the tests use.
type objects interface {
	driver.Store
	driver.ObjectStore
}

func openStore(tb testing.TB, c driver.Config) objects {
	tb.Helper()
	s, err := memory.Driver{}.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s.(objects)
}

// openBounded opens a store of at most n entries with a fake clock.
func openBounded(tb testing.TB, n int) (objects, *setClock) {
	tb.Helper()
	c := newSetClock()
	config := entries(n)
	config.Now = c.time
	return openStore(tb, config), c
}

func set(tb testing.TB, s driver.Store, key string, w driver.Write) bool {
	tb.Helper()
	stored, err := s.Set(tb.Context(), key, []byte("v"), w)
	if err != nil {
		tb.Fatal(err)
	}
	return stored
}

func exists(tb testing.TB, s driver.Store, key string) bool {
	tb.Helper()
	ok, err := s.Exists(tb.Context(), key)
	if err != nil {
		tb.Fatal(err)
	}
	return ok
}

func name(prefix string, i int) string { return prefix + strconv.Itoa(i) }

func TestStore_Expiry(t *testing.T) {
	t.Run("hides an entry within 10 ms", func(t *testing.T) {
		for _, ttl := range []time.Duration{
			time.Millisecond, 5 * time.Millisecond, 67 * time.Millisecond, time.Second, time.Hour,
			30 * 24 * time.Hour,
		} {
			synctest.Test(t, func(t *testing.T) {
				s := openStore(t, entries(10))
				<-time.After(time.Hour) // the sweeper sleeps
				set(t, s, "k", driver.Write{TTL: ttl})
				<-time.After(ttl - 1)
				if !exists(t, s, "k") {
					t.Errorf("TTL %s: the key expired early", ttl)
				}
				<-time.After(10*time.Millisecond + 1)
				if exists(t, s, "k") {
					t.Errorf("TTL %s: the key is visible 10 ms after its deadline", ttl)
				}
			})
		}
	})

	// A store that polls its clock 100 times a second could not skip so much time.
	t.Run("sleeps if no entry expires", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, entries(10))
			set(t, s, "k", driver.Write{})
			set(t, s, "soon", driver.Write{TTL: time.Second})
			set(t, s, "later", driver.Write{TTL: time.Second})
			set(t, s, "later", driver.Write{TTL: 200 * 365 * 24 * time.Hour})
			<-time.After(100 * 365 * 24 * time.Hour)
			if !exists(t, s, "k") || !exists(t, s, "later") || exists(t, s, "soon") {
				t.Error("after 100 years: a live key is missing, or an expired key exists")
			}
		})
	})

	t.Run("frees the memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, entries(2000))
			held := hold(t, s, 1000, func(i int) time.Duration {
				return time.Second + time.Duration(i%2)*time.Hour
			})
			if got := held(); got != 1000 {
				t.Fatalf("%d values in memory at the start, want 1000", got)
			}
			<-time.After(2 * time.Second)
			if got := held(); got != 500 {
				t.Errorf("%d values in memory after half of 1000 expired, want 500", got)
			}
			<-time.After(time.Hour)
			if got := held(); got != 0 {
				t.Errorf("%d values in memory after all expired, want 0", got)
			}
		})
	})

	t.Run("sweeps on writes with a fake clock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, clock := openBounded(t, 2000)
			held := hold(t, s, 1000, func(int) time.Duration { return time.Second })
			clock.advance(time.Second)
			for i := range 100 {
				set(t, s, name("new", i), driver.Write{})
				synctest.Wait() // the engine releases entries asynchronously
			}
			if got := held(); got != 0 {
				t.Errorf("%d expired values in memory after 100 writes, want 0", got)
			}
		})
	})

	t.Run("evicts expired entries first", func(t *testing.T) {
		for _, bound := range []int{1, 2, 3, 32, 500, 3000} {
			for _, live := range []int{0, bound / 3, bound - 1} {
				t.Run(fmt.Sprintf("%d of %d", live, bound), func(t *testing.T) {
					s, clock := openBounded(t, bound)
					for i := range bound {
						w := driver.Write{TTL: time.Minute}
						if i < live {
							w.TTL = time.Hour
						}
						set(t, s, name("old", i), w)
					}
					clock.advance(time.Minute)
					for i := live; i < bound; i++ {
						set(t, s, name("new", i), driver.Write{TTL: time.Hour})
					}
					for i := range bound {
						key := name("old", i)
						if i >= live {
							key = name("new", i)
						}
						if !exists(t, s, key) {
							t.Fatalf("%s is missing among %d keys", key, bound)
						}
					}
				})
			}
		}
	})

	t.Run("evicts the expired entry among many with longer TTLs", func(t *testing.T) {
		const bound = 385
		for round := range 10 {
			s, clock := openBounded(t, bound)
			set(t, s, "old", driver.Write{TTL: time.Minute})
			for _, ttl := range []time.Duration{time.Minute, time.Hour} {
				for i := range bound - 1 {
					set(t, s, name("live", i), driver.Write{TTL: ttl})
				}
			}
			for range 10 { // so that the engine would evict another entry
				exists(t, s, "old")
			}
			clock.advance(time.Minute)
			set(t, s, "new", driver.Write{TTL: time.Hour})
			for i := range bound - 1 {
				if !exists(t, s, name("live", i)) {
					t.Fatalf("round %d: live%d is missing although an expired key existed",
						round, i)
				}
			}
			if !exists(t, s, "new") {
				t.Fatalf("round %d: the new key is missing although an expired key existed", round)
			}
		}
	})

	t.Run("hides an entry before the sweep", func(t *testing.T) {
		const n = 500 // more than one write sweeps
		s, clock := openBounded(t, 2*n)
		for i := range n {
			set(t, s, name("k", i), driver.Write{TTL: time.Second})
		}
		clock.advance(time.Second)
		if removed, err := s.Delete(t.Context(), name("k", 0), name("k", 1)); removed != 0 ||
			err != nil {
			t.Errorf("Delete = %d, %v; want 0 removed", removed, err)
		}
		for i := range n {
			key := name("k", i)
			if _, ok, err := s.TTL(t.Context(), key); ok || err != nil {
				t.Errorf("TTL of %s = %t, %v; want it missing", key, ok, err)
			}
			if set(t, s, key, driver.Write{If: driver.IfPresent}) {
				t.Errorf("%s was written with XX", key)
			}
			if i%2 == 0 && !set(t, s, key, driver.Write{TTL: time.Hour, If: driver.IfAbsent}) {
				t.Errorf("%s was not written with NX", key)
			}
			if i%2 == 1 && !set(t, s, key, driver.Write{TTL: time.Hour, KeepTTL: true}) {
				t.Errorf("%s was not written", key)
			}
			if ttl, ok, err := s.TTL(t.Context(), key); ttl != time.Hour || !ok || err != nil {
				t.Errorf("TTL of %s = %s, %t, %v; want the hour of the second write",
					key, ttl, ok, err)
			}
		}
	})

	t.Run("handles clock jumps", func(t *testing.T) {
		const n = 200
		s, clock := openBounded(t, n)
		for i := range n {
			set(t, s, name("day", i), driver.Write{TTL: 24 * time.Hour})
		}
		clock.advance(12 * time.Hour)
		set(t, s, "day0", driver.Write{TTL: 24 * time.Hour})
		clock.advance(-6 * time.Hour)
		if ttl, _, _ := s.TTL(t.Context(), "day1"); ttl != 18*time.Hour {
			t.Errorf("TTL = %s after six hours, want 18h", ttl)
		}
		for i := range n {
			set(t, s, name("day", i), driver.Write{TTL: time.Minute})
		}
		clock.advance(time.Minute)
		for i := range n { // entries that expired after the jump back make room
			set(t, s, name("new", i), driver.Write{TTL: 400 * 24 * time.Hour})
		}
		for i := range n {
			if exists(t, s, name("day", i)) || !exists(t, s, name("new", i)) {
				t.Fatalf("day%d exists or new%d is missing", i, i)
			}
		}
		clock.advance(100 * 365 * 24 * time.Hour)
		for i := range n {
			if exists(t, s, name("new", i)) {
				t.Fatalf("new%d exists after 100 years", i)
			}
			set(t, s, name("k", i), driver.Write{})
		}
		for i := range n {
			if !exists(t, s, name("k", i)) {
				t.Fatalf("k%d is missing", i)
			}
		}
	})
}

// payload is large so that the allocator does not combine it with others.
type payload [1 << 10]byte

func (*payload) Encode() ([]byte, error) { return []byte{1}, nil }

// hold writes values in a synctest bubble and returns a function that counts those still
// in memory.
func hold(tb testing.TB, s objects, n int, ttl func(i int) time.Duration) (held func() int) {
	tb.Helper()
	values := make([]weak.Pointer[payload], n)
	for i := range n {
		p := new(payload)
		values[i] = weak.Make(p)
		if _, err := s.SetObject(tb.Context(), name("held", i), &driver.Entry{Object: p},
			driver.Write{TTL: ttl(i)}); err != nil {
			tb.Fatal(err)
		}
	}
	return func() int {
		// values that are referenced when a collection starts remain until the next
		for range 3 {
			synctest.Wait()
			runtime.GC()
		}
		left := 0
		for _, p := range values {
			if p.Value() != nil {
				left++
			}
		}
		return left
	}
}
