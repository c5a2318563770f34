package xcache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// opens is a driver that gives a store, and notes the settings.
type opens struct {
	name  string
	store driver.Store
	err   error
	got   *driver.Config
}

func (o opens) Name() string { return o.name }

func (o opens) Check(c driver.Config) error {
	if c.MaxEntries < 0 {
		return errors.New("a negative bound")
	}
	return nil
}

func (o opens) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	if o.got != nil {
		*o.got = c
	}
	return o.store, o.err
}

// nearRegistry holds a server and a store for the copies.
func nearRegistry(server, memory opens) *xcache.Registry {
	var r xcache.Registry
	server.name, memory.name = "server", "memory"
	r.Register(server)
	r.Register(memory)
	return &r
}

// resolveIn resolves o with the drivers of r.
func resolveIn(r *xcache.Registry, o xcache.Options) (*xcache.Cache, error) {
	xcache.WithRegistry(r)(&o)
	return xcache.Resolve(o)
}

func TestOpenPutsANearCacheInFrontOfAServer(t *testing.T) {
	s, near := newServer(), newCopies()
	var got driver.Config
	r := nearRegistry(opens{store: s}, opens{store: near, got: &got})
	m, err := openIn(t.Context(), r, xcache.Options{
		Driver: "server", NearMaxEntries: 7, NearTTL: time.Second, Prefix: "p:",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.MaxEntries != 7 || s.prefix != "p:" {
		t.Errorf("bound %d and watched prefix %q, want 7 and the manager's",
			got.MaxEntries, s.prefix)
	}
	s.watcher.Connected()
	c := xcache.KeyCacheOf[string, string](m)
	s.write(t, "p:k", "one")
	sees(t, "the first read", c, "k", "one")
	sees(t, "a hit", c, "k", "one")
	if s.trips.Load() != 1 || near.life > time.Second {
		t.Errorf("%d round trips and a copy for %s, want 1 and a second at most",
			s.trips.Load(), near.life)
	}
	if err := m.Close(); err != nil || !near.closed {
		t.Errorf("Close = %v, near closed = %t", err, near.closed)
	}
}

// A service starts on a backend in the process and moves to a server by a variable: the
// near cache's must not hinder it.
func TestABackendInTheProcessDoesWithoutANearCache(t *testing.T) {
	own, near := newCopies(), newCopies()
	m, err := openIn(t.Context(), nearRegistry(opens{store: own}, opens{store: near}),
		xcache.Options{Driver: "server", NearMaxEntries: 1, NearTTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(m.String(), "near") {
		t.Errorf("String = %q, want no near cache", m)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestCheckReportsTheProblemsOfANearCache(t *testing.T) {
	_, err := resolveIn(registryOf(drivertest.MapDriver{}),
		xcache.Options{Driver: "map", NearMaxEntries: 1})
	if !errors.Is(err, xcache.ErrUnknownDriver) {
		t.Errorf("Check = %v, want ErrUnknownDriver", err)
	}
	for _, want := range []string{
		"near cache", `"memory"`,
		`import _ "github.com/plinthgo/plinth/cacheplugins/memory"`, "TTL 0s is not positive",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %q in it", err, want)
		}
	}
	r := nearRegistry(opens{}, opens{})
	_, err = resolveIn(r, xcache.Options{Driver: "server", NearMaxEntries: -1, NearTTL: 1})
	if err == nil || !strings.Contains(err.Error(),
		"near cache: configure memory: a negative bound") {
		t.Errorf("Check = %v, want the driver's problem", err)
	}
	if _, err := resolveIn(r, xcache.Options{
		Driver:         "server",
		NearMaxEntries: 1, NearTTL: 1,
	}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

// closing notes that it was closed.
type closing struct {
	driver.Store
	closed *bool
}

func (c closing) Close() error {
	*c.closed = true
	return c.Store.Close()
}

func TestWhereANearCacheCannotBeNothingStaysOpen(t *testing.T) {
	refused := errors.New("no CLIENT TRACKING")
	for _, tc := range []struct {
		name  string
		store func(s *fakeServer) driver.Store
		near  opens
		want  error
	}{
		{
			"a server that tells nothing", func(s *fakeServer) driver.Store { return s.MapStore },
			opens{store: newCopies()},
			driver.ErrConfig,
		},
		{"a server that refuses", func(s *fakeServer) driver.Store {
			s.watchErr = refused
			return s
		}, opens{store: newCopies()}, refused},
		{
			"copies that do not open",
			func(s *fakeServer) driver.Store { return s },
			opens{err: refused},
			refused,
		},
		{
			"copies in bytes", func(s *fakeServer) driver.Store { return s },
			opens{store: drivertest.NewMapStore(nil)},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var closed bool
			s := newServer()
			store := tc.store(s)
			server := opens{store: closing{store, &closed}}
			if i, ok := store.(driver.Invalidator); ok {
				server.store = watched{server.store, i}
			}
			_, err := openIn(t.Context(), nearRegistry(server, tc.near),
				xcache.Options{Driver: "server", NearMaxEntries: 1, NearTTL: 1})
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) ||
				!strings.Contains(err.Error(), "near cache") {
				t.Errorf("Open = %v, want %v", err, tc.want)
			}
			if near, ok := tc.near.store.(*copies); ok && !near.closed {
				t.Error("the store of the copies is still open")
			}
			if !closed {
				t.Error("the server's store is still open")
			}
			if s.watching != nil && s.watching.Err() == nil {
				t.Error("the watch goes on")
			}
		})
	}
}

func TestNewRefusesANearCacheThatMakesNoSense(t *testing.T) {
	for want, o := range map[string]xcache.Options{
		"does not keep objects": {NearStore: drivertest.NewMapStore(nil), NearTTL: time.Second},
		"TTL 0s":                {NearStore: newCopies()},
	} {
		_, err := xcache.New(newServer(), func(options *xcache.Options) {
			options.NearStore, options.NearTTL = o.NearStore, o.NearTTL
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want %q in it", err, want)
		}
	}
}
