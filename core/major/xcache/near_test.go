package xcache_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

func TestAHitCostsNoRoundTripAndMetricsSayIt(t *testing.T) {
	s := newServer()
	var events recorder
	m, _ := nearly(t, s, xcache.WithPrefix("p:"), xcache.WithMetrics(events.Observe))
	if s.prefix != "p:" {
		t.Errorf("watched prefix = %q, want the manager's", s.prefix)
	}
	c := xcache.KeyCacheOf[string, string](m, xcache.WithKeyPrefix("v:"))
	s.write(t, "p:v:k", "one")
	sees(t, "the first read", c, "k", "one")
	s.write(t, "p:v:k", "two")
	sees(t, "a hit", c, "k", "one")
	if _, ok, err := c.GetOrLoad(t.Context(), "k", func(context.Context) (*string, error) {
		return nil, errors.New("loaded")
	}); !ok || err != nil {
		t.Errorf("GetOrLoad = %t, %v; want the copy", ok, err)
	}
	if n := s.trips.Load(); n != 1 {
		t.Errorf("%d round trips, want 1", n)
	}
	s.watcher.Invalidate([]string{"p:v:k"})
	sees(t, "after the server's word", c, "k", "two")
	var near []bool
	for _, e := range events.events {
		near = append(near, e.Near)
	}
	if want := []bool{false, true, true, false}; len(near) != 4 || [4]bool(near) != [4]bool(want) {
		t.Errorf("Near of the events = %v, want %v", near, want)
	}
}

func TestWhatIsMissingIsNotKept(t *testing.T) {
	s := newServer()
	m, near := nearly(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	sees(t, "nothing there", c, "k", "")
	s.write(t, "k", "one")
	sees(t, "written without a word", c, "k", "one")
	if len(near.objects) != 1 {
		t.Errorf("%d copies, want 1", len(near.objects))
	}
}

// While a read is on its way, these make what it brings old. Each changes the key first.
func TestAReadThatWasOvertakenIsNotKept(t *testing.T) {
	ctx := t.Context()
	for name, overtake := range map[string]func(s *fakeServer,
		c *xcache.KeyCache[string, string]) error{
		"the server's word": func(s *fakeServer, _ *xcache.KeyCache[string, string]) error {
			s.watcher.Invalidate([]string{"other", "k"})
			return nil
		},
		"all keys": func(s *fakeServer, _ *xcache.KeyCache[string, string]) error {
			s.watcher.Invalidate(nil)
			return nil
		},
		"the end of the watch": func(s *fakeServer, _ *xcache.KeyCache[string, string]) error {
			s.watcher.Disconnected()
			return nil
		},
		"a new watch": func(s *fakeServer, _ *xcache.KeyCache[string, string]) error {
			s.watcher.Disconnected()
			s.watcher.Connected()
			return nil
		},
		"a new watch at once": func(s *fakeServer, _ *xcache.KeyCache[string, string]) error {
			s.watcher.Connected()
			return nil
		},
		"Set": func(_ *fakeServer, c *xcache.KeyCache[string, string]) error {
			return c.Set(ctx, "k", new("two"))
		},
		"Set, held back": func(_ *fakeServer, c *xcache.KeyCache[string, string]) error {
			return c.Set(ctx, "k", new("three"), xcache.WithNX())
		},
		"SetMany": func(_ *fakeServer, c *xcache.KeyCache[string, string]) error {
			return c.SetMany(ctx, map[string]string{"k": "two"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer()
			m, _ := nearly(t, s)
			c := xcache.KeyCacheOf[string, string](m)
			s.write(t, "k", "one")
			s.afterGet = func(string) {
				s.afterGet = nil
				s.write(t, "k", "two")
				if err := overtake(s, c); err != nil {
					t.Error(err)
				}
			}
			sees(t, "the read that was overtaken", c, "k", "one")
			sees(t, "the next one", c, "k", "two")
		})
	}
}

// As above, for what removes the key.
func TestAReadThatARemovalOvertookIsNotKept(t *testing.T) {
	ctx := t.Context()
	for name, remove := range map[string]func(m *xcache.Manager,
		c *xcache.KeyCache[string, string]) error{
		"Delete": func(_ *xcache.Manager, c *xcache.KeyCache[string, string]) error {
			return c.Delete(ctx, "k")
		},
		"DeleteMany": func(_ *xcache.Manager, c *xcache.KeyCache[string, string]) error {
			_, err := c.DeleteMany(ctx, []string{"k"})
			return err
		},
		"Delete of another view": func(m *xcache.Manager,
			_ *xcache.KeyCache[string, string],
		) error {
			return xcache.ListCacheOf[string, int](m).Delete(ctx, "k")
		},
		"Clear": func(_ *xcache.Manager, c *xcache.KeyCache[string, string]) error {
			_, err := c.Clear(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer()
			m, _ := nearly(t, s, xcache.WithPrefix("p:"))
			c := xcache.KeyCacheOf[string, string](m)
			s.write(t, "p:k", "one")
			s.afterGet = func(string) {
				s.afterGet = nil
				if err := remove(m, c); err != nil {
					t.Error(err)
				}
			}
			sees(t, "the read that was overtaken", c, "k", "one")
			sees(t, "the next one", c, "k", "")
		})
	}
}

func TestAProcessReadsWhatItHasWritten(t *testing.T) {
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
		m, _ := nearly(t, s)
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "k", "one")
		sees(t, name+": before", c, "k", "one")
		if err := write(c); err != nil {
			t.Fatal(err)
		}
		sees(t, name+": after", c, "k", "two")
		sees(t, name+": the copy", c, "k", "two")

		lost := errors.New("connection reset")
		s.afterSet = func() error { return lost }
		if err := c.Set(ctx, "k", new("three")); !errors.Is(err, lost) {
			t.Fatalf("Set = %v, want the server's error", err)
		}
		sees(t, "a write whose outcome is unknown", c, "k", "three")
	}
}

// An invalidation that arrives while a value is being kept comes after it.
func TestKeepingAndInvalidatingAreOneStepEach(t *testing.T) {
	s := newServer()
	m, near := nearly(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "k", "one")
	told := make(chan struct{})
	near.beforeSet = func() {
		near.beforeSet = nil
		s.write(t, "k", "two")
		go func() {
			s.watcher.Invalidate([]string{"k"})
			close(told)
		}()
		for range 1000 {
			runtime.Gosched()
		}
	}
	sees(t, "the read", c, "k", "one")
	<-told
	sees(t, "after the server's word", c, "k", "two")
}

// An end of the epoch that comes while a value is being kept makes the copy invisible.
func TestACopyOfAnOldEpochIsNotSeen(t *testing.T) {
	s := newServer()
	m, near := nearly(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "k", "one")
	near.beforeSet = func() {
		near.beforeSet = nil
		s.write(t, "k", "two")
		s.watcher.Invalidate(nil)
	}
	sees(t, "the read", c, "k", "one")
	if len(near.objects) != 1 {
		t.Fatal("the copy was not kept, so this test shows nothing")
	}
	sees(t, "after the server's word", c, "k", "two")

	lists := xcache.KeyCacheOf[string, []int](m) // kept as bytes
	for _, want := range []string{"[1]", "[1,2]"} {
		s.write(t, "l", want)
		s.watcher.Invalidate(nil)
		if v, ok, err := lists.Get(t.Context(), "l"); err != nil || !ok || len(*v) != len(want)/2 {
			t.Errorf("Get = %v, %t, %v; want %s", v, ok, err, want)
		}
	}
}

func TestWithoutAWatchEveryReadGoesToTheServer(t *testing.T) {
	s := newServer()
	c := newCopies()
	m := managerOf(t, s, func(o *xcache.Options) { o.NearStore, o.NearTTL = c, nearTTL })
	v := xcache.KeyCacheOf[string, string](m)
	for i, value := range []string{"one", "two"} {
		s.write(t, "k", value)
		sees(t, "before the watch is up", v, "k", value)
		if n := s.trips.Load(); n != int64(i)+1 {
			t.Errorf("%d round trips, want %d", n, i+1)
		}
	}
	s.watcher.Connected()
	sees(t, "the watch is up", v, "k", "two")
	s.write(t, "k", "three")
	sees(t, "the copy", v, "k", "two")
	s.watcher.Disconnected()
	sees(t, "the watch is down", v, "k", "three")
	s.write(t, "k", "four")
	s.watcher.Connected()
	sees(t, "the watch is up again", v, "k", "four")
}

// Where a copy cannot be removed, none is shown any more.
func TestANearCacheThatFailsShowsNothingStale(t *testing.T) {
	s := newServer()
	m, near := nearly(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "k", "one")
	sees(t, "the read", c, "k", "one")
	near.fail = errors.New("stuck")
	s.write(t, "k", "two")
	s.watcher.Invalidate([]string{"k"})
	sees(t, "after the server's word", c, "k", "two")
}

func TestCloseEndsTheWatchAndBothStores(t *testing.T) {
	s := newServer()
	m, near := nearly(t, s)
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "k", "one")
	sees(t, "the read", c, "k", "one")
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s.watching.Err() == nil || !near.closed {
		t.Errorf("the watch ended with %v, near closed = %t; want both ended",
			s.watching.Err(), near.closed)
	}
	if _, _, err := c.Get(t.Context(), "k"); !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Get = %v, want ErrClosed", err)
	}
	if !strings.Contains(m.String(), "near cache: ") {
		t.Errorf("String = %q, want the near cache in it", m)
	}
}
