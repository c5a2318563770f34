package xcache_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestNear_TTL(t *testing.T) {
	t.Run("is limited by the TTL of the key", func(t *testing.T) {
		for _, tc := range []struct {
			name       string
			reportsTTL bool
			ttl        time.Duration
			longest    time.Duration
		}{
			{"no expiry", true, 0, nearTTL},
			{"longer than a copy", true, time.Hour, nearTTL},
			{"shorter than a copy", true, time.Second, 990 * time.Millisecond},
			{"about to expire", true, 10 * time.Millisecond, 0},
			{"unknown", false, time.Second, nearTTL},
		} {
			for _, many := range []bool{false, true} {
				s := newServer()
				var store driver.Store = s
				if tc.reportsTTL {
					store = ttlServer{s}
				}
				m, near := nearManagerOf(t, store, s)
				c := xcache.KeyCacheOf[string, int](m)
				if err := c.Set(t.Context(), "k", new(1), xcache.WithTTL(tc.ttl)); err != nil {
					t.Fatal(err)
				}
				if many {
					if got, err := c.GetMany(t.Context(), []string{"k"}); err != nil ||
						got["k"] != 1 {
						t.Fatal(got, err)
					}
				} else if v, ok, err := c.Get(t.Context(), "k"); err != nil || !ok || *v != 1 {
					t.Fatal(v, ok, err)
				}
				if near.ttl > tc.longest || (tc.longest > 0 &&
					near.ttl < tc.longest-500*time.Millisecond) ||
					near.ttl%time.Millisecond != 0 {
					t.Errorf("%s, many %t: a copy has the TTL %s, want about %s and not more",
						tc.name, many, near.ttl, tc.longest)
				}
			}
		}
	})

	t.Run("may exceed the range of milliseconds", func(t *testing.T) {
		s := newServer()
		m := managerOf(t, s, func(o *xcache.Options) {
			o.NearStore, o.NearTTL = newCopies(), math.MaxInt64
		})
		s.watcher.Connected()
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "k", "one")
		checkGet(t, "the read", c, "k", "one")
		s.write(t, "k", "two")
		checkGet(t, "the copy", c, "k", "one")
	})
}

func TestNear_Copy(t *testing.T) {
	t.Run("is not shared between value types", func(t *testing.T) {
		type part struct{ A int }
		type whole struct{ A, B int }
		s := newServer()
		m, _ := nearManager(t, s)
		s.write(t, "k", `{"A":1,"B":2}`)
		parts, wholes := xcache.KeyCacheOf[string, part](m), xcache.KeyCacheOf[string, whole](m)
		for range 2 {
			if v, _, err := parts.Get(t.Context(), "k"); err != nil || *v != (part{1}) {
				t.Fatal(v, err)
			}
			if v, _, err := wholes.Get(t.Context(), "k"); err != nil || *v != (whole{1, 2}) {
				t.Errorf("Get = %v, %v; want the value of the server", v, err)
			}
		}
	})

	t.Run("is not modified by callers", func(t *testing.T) {
		s := newServer()
		m, _ := nearManager(t, s)
		s.write(t, "k", "[1,2]")
		c := xcache.KeyCacheOf[string, []int](m)
		shared := xcache.KeyCacheOf[string, []int](m, xcache.WithImmutable())
		// c must not use the shared copy
		for _, view := range []*xcache.KeyCache[string, []int]{shared, c, c, c} {
			v, ok, err := view.Get(t.Context(), "k")
			if err != nil || !ok || (*v)[0] != 1 {
				t.Fatalf("Get = %v, %t, %v; want 1, 2", v, ok, err)
			}
			if view == c {
				(*v)[0] = 7
			}
		}
		if n := s.trips.Load(); n != 2 {
			t.Errorf("%d round trips, want one for each kind of copy", n)
		}
		first, _, _ := shared.Get(t.Context(), "k")
		if second, _, _ := shared.Get(t.Context(), "k"); first != second {
			t.Error("two reads of an immutable view returned different pointers")
		}
		s.write(t, "n", "1")
		numbers := xcache.KeyCacheOf[string, int](m)
		for range 3 {
			v, _, err := numbers.Get(t.Context(), "n")
			if err != nil || *v != 1 {
				t.Fatal(v, err)
			}
			*v = 7
		}
	})

	t.Run("is not stored if decoding fails", func(t *testing.T) {
		s := newServer()
		m, near := nearManager(t, s)
		s.write(t, "k", "{")
		for range 2 {
			_, _, err := xcache.KeyCacheOf[string, []int](m).Get(t.Context(), "k")
			if !errors.Is(err, xcache.ErrDecode) {
				t.Errorf("Get = %v, want ErrDecode", err)
			}
			_, _, err = xcache.KeyCacheOf[string, int](m).Get(t.Context(), "k")
			if !errors.Is(err, xcache.ErrDecode) {
				t.Errorf("Get = %v, want ErrDecode", err)
			}
		}
		if len(near.objects) > 0 {
			t.Error("the copy is stored")
		}
	})
}

func TestNear_GetMany(t *testing.T) {
	for _, reportsTTL := range []bool{true, false} {
		s := newServer()
		var store driver.Store = s
		if reportsTTL {
			store = ttlServer{s}
		}
		var events recorder
		m, _ := nearManagerOf(t, store, s, xcache.WithMetrics(events.Observe))
		c := xcache.KeyCacheOf[string, string](m)
		for _, key := range []string{"a", "b", "c"} {
			s.write(t, key, key)
		}
		checkGet(t, "first read", c, "b", "b")
		want := map[string]string{"a": "a", "b": "b", "c": "c"}
		for _, trips := range []int64{2, 3, 4} { // missing keys are requested each time
			got, err := c.GetMany(t.Context(), []string{"a", "b", "c", "none"})
			if err != nil || !maps.Equal(got, want) || s.trips.Load() != trips {
				t.Errorf("GetMany = %v, %v after %d round trips; want %v after %d",
					got, err, s.trips.Load(), want, trips)
			}
		}
		got, err := c.GetMany(t.Context(), []string{"a", "b", "c"})
		if err != nil || !maps.Equal(got, want) || s.trips.Load() != 4 {
			t.Errorf("GetMany = %v, %v after %d round trips; want the copies without a round trip",
				got, err, s.trips.Load())
		}
		if last := events.events[len(events.events)-1]; !last.Near || events.events[1].Near {
			t.Errorf("Near = %t and %t, want true only for the batch without a round trip",
				last.Near, events.events[1].Near)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.GetMany(canceled, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("GetMany = %v, want the context's error", err)
		}
		if _, _, err := c.Get(canceled, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("Get = %v, want the context's error", err)
		}
	}
}

// watched is a store that implements only driver.Store and driver.Invalidator.
type watched struct {
	driver.Store
	driver.Invalidator
}

func TestWithoutNear(t *testing.T) {
	s := newServer()
	m, _ := nearManager(t, s)
	c := xcache.KeyCacheOf[string, string](m, xcache.WithoutNear())
	near := xcache.KeyCacheOf[string, string](m)
	for _, value := range []string{"one", "two"} {
		s.write(t, "k", value)
		checkGet(t, "near view", near, "k", "one")
		checkGet(t, "view without near", c, "k", value)
	}
	if err := c.Set(t.Context(), "k", new("three")); err != nil {
		t.Fatal(err)
	}
	checkGet(t, "after a write of the view without near", near, "k", "three")
}

// As in the memory backend, Get allocates one copy of a plain value if it is not inlined.
func TestNear_Hit_Allocations(t *testing.T) {
	type flat struct {
		ID   int64
		Name string
	}
	s := newServer()
	m, _ := nearManager(t, s)
	s.write(t, "k", `{"ID":7,"Name":"Ada"}`)
	s.write(t, "l", "[1]")
	ctx := t.Context()
	c := xcache.KeyCacheOf[string, flat](m)
	shared := xcache.KeyCacheOf[string, []int](m, xcache.WithImmutable())
	for _, tc := range []struct {
		name string
		hit  func() bool
		want float64
	}{
		{"plain value", func() bool {
			v, ok, err := c.Get(ctx, "k")
			return err == nil && ok && v.Name == "Ada"
		}, 1},
		{"immutable view", func() bool {
			v, ok, err := shared.Get(ctx, "l")
			return err == nil && ok && len(*v) == 1
		}, 0},
	} {
		got := testing.AllocsPerRun(1000, func() {
			if !tc.hit() {
				t.Error("not a hit")
			}
		})
		t.Logf("%s: %v allocations", tc.name, got)
		if got > tc.want {
			t.Errorf("%s: %v allocations, want at most %v", tc.name, got, tc.want)
		}
	}
	if n := s.trips.Load(); n != 2 {
		t.Errorf("%d round trips, want 2", n)
	}
}
