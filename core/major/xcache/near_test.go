package xcache_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

func TestNear_Get(t *testing.T) {
	t.Run("needs no round trip for a hit", func(t *testing.T) {
		s := newServer()
		var events recorder
		m, _ := nearManager(t, s, xcache.WithPrefix("p:"), xcache.WithMetrics(events.Observe))
		if s.prefix != "p:" {
			t.Errorf("watched prefix = %q, want the manager's prefix", s.prefix)
		}
		c := xcache.KeyCacheOf[string, string](m, xcache.WithKeyPrefix("v:"))
		s.write(t, "p:v:k", "one")
		checkGet(t, "first read", c, "k", "one")
		s.write(t, "p:v:k", "two")
		checkGet(t, "hit", c, "k", "one")
		if _, ok, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
			return nil, errors.New("loaded")
		}); !ok || err != nil {
			t.Errorf("GetOrLoad = %t, %v; want the copy", ok, err)
		}
		if n := s.trips.Load(); n != 1 {
			t.Errorf("%d round trips, want 1", n)
		}
		s.watcher.Invalidate([]string{"p:v:k"})
		checkGet(t, "after the invalidation", c, "k", "two")
		var near []bool
		for _, e := range events.events {
			near = append(near, e.Near)
		}
		if want := []bool{false, true, true, false}; len(near) != 4 ||
			[4]bool(near) != [4]bool(want) {
			t.Errorf("Near of the events = %v, want %v", near, want)
		}
	})

	t.Run("does not cache a missing key", func(t *testing.T) {
		s := newServer()
		m, near := nearManager(t, s)
		c := xcache.KeyCacheOf[string, string](m)
		checkGet(t, "missing key", c, "k", "")
		s.write(t, "k", "one")
		checkGet(t, "after a write without invalidation", c, "k", "one")
		if len(near.objects) != 1 {
			t.Errorf("%d copies, want 1", len(near.objects))
		}
	})

	t.Run("reads its own writes", func(t *testing.T) {
		ctx := t.Context()
		for name, write := range map[string]func(c *xcache.KeyCache[string, string]) error{
			"Set": func(c *xcache.KeyCache[string, string]) error {
				return c.Set(ctx, "k", new("two"))
			},
			"SetMany": func(c *xcache.KeyCache[string, string]) error {
				return c.SetMany(ctx, map[string]string{"k": "two"})
			},
		} {
			s := newServer()
			m, _ := nearManager(t, s)
			c := xcache.KeyCacheOf[string, string](m)
			s.write(t, "k", "one")
			checkGet(t, name+": before", c, "k", "one")
			if err := write(c); err != nil {
				t.Fatal(err)
			}
			checkGet(t, name+": after", c, "k", "two")
			checkGet(t, name+": second read", c, "k", "two")

			lost := errors.New("connection reset")
			s.afterSet = func() error { return lost }
			if err := c.Set(ctx, "k", new("three")); !errors.Is(err, lost) {
				t.Fatalf("Set = %v, want the server's error", err)
			}
			checkGet(t, "write with an unknown outcome", c, "k", "three")
		}
	})
}

func TestNear_ConcurrentChange(t *testing.T) {
	// Each of these changes makes a read that is in flight stale.
	t.Run("discards a read during a write", func(t *testing.T) {
		ctx := t.Context()
		type cache = *xcache.KeyCache[string, string]
		for name, makeStale := range map[string]func(s *fakeServer, c cache) error{
			"invalidation of the key": func(s *fakeServer, _ cache) error {
				s.watcher.Invalidate([]string{"other", "k"})
				return nil
			},
			"invalidation of all keys": func(s *fakeServer, _ cache) error {
				s.watcher.Invalidate(nil)
				return nil
			},
			"watch down": func(s *fakeServer, _ cache) error {
				s.watcher.Disconnected()
				return nil
			},
			"watch up again": func(s *fakeServer, _ cache) error {
				s.watcher.Disconnected()
				s.watcher.Connected()
				return nil
			},
			"watch reconnected": func(s *fakeServer, _ cache) error {
				s.watcher.Connected()
				return nil
			},
			"Set": func(_ *fakeServer, c cache) error {
				return c.Set(ctx, "k", new("two"))
			},
			"Set, prevented by NX": func(_ *fakeServer, c cache) error {
				return c.Set(ctx, "k", new("three"), xcache.WithNX())
			},
			"SetMany": func(_ *fakeServer, c cache) error {
				return c.SetMany(ctx, map[string]string{"k": "two"})
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newServer()
				m, _ := nearManager(t, s)
				c := xcache.KeyCacheOf[string, string](m)
				s.write(t, "k", "one")
				s.afterGet = func(string) {
					s.afterGet = nil
					s.write(t, "k", "two")
					if err := makeStale(s, c); err != nil {
						t.Error(err)
					}
				}
				checkGet(t, "concurrent read", c, "k", "one")
				checkGet(t, "next read", c, "k", "two")
			})
		}
	})

	t.Run("discards a read during a removal", func(t *testing.T) {
		ctx := t.Context()
		type cache = *xcache.KeyCache[string, string]
		for name, remove := range map[string]func(m *xcache.Manager, c cache) error{
			"Delete": func(_ *xcache.Manager, c cache) error {
				return c.Delete(ctx, "k")
			},
			"DeleteMany": func(_ *xcache.Manager, c cache) error {
				_, err := c.DeleteMany(ctx, []string{"k"})
				return err
			},
			"Delete of another view": func(m *xcache.Manager, _ cache) error {
				return xcache.ListCacheOf[string, int](m).Delete(ctx, "k")
			},
			"Clear": func(_ *xcache.Manager, c cache) error {
				_, err := c.Clear(ctx)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newServer()
				m, _ := nearManager(t, s, xcache.WithPrefix("p:"))
				c := xcache.KeyCacheOf[string, string](m)
				s.write(t, "p:k", "one")
				s.afterGet = func(string) {
					s.afterGet = nil
					if err := remove(m, c); err != nil {
						t.Error(err)
					}
				}
				checkGet(t, "concurrent read", c, "k", "one")
				checkGet(t, "next read", c, "k", "")
			})
		}
	})

	// An invalidation that arrives while a value is being stored is applied after the
	// write.
	t.Run("invalidates a copy that is being stored", func(t *testing.T) {
		s := newServer()
		m, near := nearManager(t, s)
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "k", "one")
		invalidated := make(chan struct{})
		near.beforeSet = func() {
			near.beforeSet = nil
			s.write(t, "k", "two")
			go func() {
				s.watcher.Invalidate([]string{"k"})
				close(invalidated)
			}()
			for range 1000 {
				runtime.Gosched()
			}
		}
		checkGet(t, "the read", c, "k", "one")
		<-invalidated
		checkGet(t, "after the invalidation", c, "k", "two")
	})

	// A new epoch that starts while a value is being stored hides the copy.
	t.Run("ignores a copy of an old epoch", func(t *testing.T) {
		s := newServer()
		m, near := nearManager(t, s)
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "k", "one")
		near.beforeSet = func() {
			near.beforeSet = nil
			s.write(t, "k", "two")
			s.watcher.Invalidate(nil)
		}
		checkGet(t, "the read", c, "k", "one")
		if len(near.objects) != 1 {
			t.Fatal("the copy was not stored: the test is inconclusive")
		}
		checkGet(t, "after the invalidation", c, "k", "two")

		lists := xcache.KeyCacheOf[string, []int](m) // stored as bytes
		for _, want := range []string{"[1]", "[1,2]"} {
			s.write(t, "l", want)
			s.watcher.Invalidate(nil)
			if v, ok, err := lists.Get(t.Context(), "l"); err != nil || !ok ||
				len(*v) != len(want)/2 {
				t.Errorf("Get = %v, %t, %v; want %s", v, ok, err, want)
			}
		}
	})
}

func TestNear_Watch(t *testing.T) {
	t.Run("reads the server while the watch is down", func(t *testing.T) {
		s := newServer()
		c := newCopies()
		m := managerOf(t, s, func(o *xcache.Options) { o.NearStore, o.NearTTL = c, nearTTL })
		v := xcache.KeyCacheOf[string, string](m)
		for i, value := range []string{"one", "two"} {
			s.write(t, "k", value)
			checkGet(t, "before the watch is up", v, "k", value)
			if n := s.trips.Load(); n != int64(i)+1 {
				t.Errorf("%d round trips, want %d", n, i+1)
			}
		}
		s.watcher.Connected()
		checkGet(t, "the watch is up", v, "k", "two")
		s.write(t, "k", "three")
		checkGet(t, "the copy", v, "k", "two")
		s.watcher.Disconnected()
		checkGet(t, "the watch is down", v, "k", "three")
		s.write(t, "k", "four")
		s.watcher.Connected()
		checkGet(t, "the watch is up again", v, "k", "four")
	})

	t.Run("drops all copies if a removal fails", func(t *testing.T) {
		s := newServer()
		m, near := nearManager(t, s)
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "k", "one")
		checkGet(t, "the read", c, "k", "one")
		near.deleteErr = errors.New("undeletable")
		s.write(t, "k", "two")
		s.watcher.Invalidate([]string{"k"})
		checkGet(t, "after the invalidation", c, "k", "two")
	})
}

func TestManager_Close_Near(t *testing.T) {
	s := newServer()
	m, near := nearManager(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "k", "one")
	checkGet(t, "the read", c, "k", "one")
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s.watchCtx.Err() == nil || !near.closed {
		t.Errorf("watch context = %v, near closed = %t; want both closed",
			s.watchCtx.Err(), near.closed)
	}
	if _, _, err := c.Get(t.Context(), "k"); !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Get = %v, want ErrClosed", err)
	}
	if !strings.Contains(m.String(), "near cache: ") {
		t.Errorf("String = %q, want the near cache in it", m)
	}
}
