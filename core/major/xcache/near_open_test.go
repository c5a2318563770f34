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

// storeDriver is a driver that returns a fixed store and records its settings.
type storeDriver struct {
	name  string
	store driver.Store
	err   error
	got   *driver.Config
}

func (o storeDriver) Name() string { return o.name }

func (o storeDriver) Check(c driver.Config) error {
	if c.MaxEntries < 0 {
		return errors.New("negative bound")
	}
	return nil
}

func (o storeDriver) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	if o.got != nil {
		*o.got = c
	}
	return o.store, o.err
}

// nearRegistry contains a server and a store for the copies.
func nearRegistry(server, memory storeDriver) *xcache.Registry {
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

func TestOpen_Near(t *testing.T) {
	t.Run("creates a near cache in front of a server", func(t *testing.T) {
		s, near := newServer(), newCopies()
		var got driver.Config
		r := nearRegistry(storeDriver{store: s}, storeDriver{store: near, got: &got})
		m, err := openIn(t.Context(), r, xcache.Options{
			Driver: "server", NearMaxEntries: 7, NearTTL: time.Second, Prefix: "p:",
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.MaxEntries != 7 || s.prefix != "p:" {
			t.Errorf("MaxEntries %d and watched prefix %q, want 7 and the manager's prefix",
				got.MaxEntries, s.prefix)
		}
		s.watcher.Connected()
		c := xcache.KeyCacheOf[string, string](m)
		s.write(t, "p:k", "one")
		checkGet(t, "first read", c, "k", "one")
		checkGet(t, "hit", c, "k", "one")
		if s.trips.Load() != 1 || near.ttl > time.Second {
			t.Errorf("%d round trips and a TTL of %s, want 1 and at most 1s",
				s.trips.Load(), near.ttl)
		}
		if err := m.Close(); err != nil || !near.closed {
			t.Errorf("Close = %v, near closed = %t", err, near.closed)
		}
	})

	// The variable of the near cache must not prevent a service from using an in-process
	// backend.
	t.Run("creates no near cache for an in-process backend", func(t *testing.T) {
		own, near := newCopies(), newCopies()
		m, err := openIn(t.Context(),
			nearRegistry(storeDriver{store: own}, storeDriver{store: near}),
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
	})

	t.Run("closes all stores after an error", func(t *testing.T) {
		refused := errors.New("no CLIENT TRACKING")
		for _, tc := range []struct {
			name  string
			store func(s *fakeServer) driver.Store
			near  storeDriver
			want  error
		}{
			{
				"server without invalidation",
				func(s *fakeServer) driver.Store { return s.MapStore },
				storeDriver{store: newCopies()},
				driver.ErrConfig,
			},
			{
				"server rejects the watch",
				func(s *fakeServer) driver.Store { s.watchErr = refused; return s },
				storeDriver{store: newCopies()},
				refused,
			},
			{
				"store of the copies fails to open",
				func(s *fakeServer) driver.Store { return s },
				storeDriver{err: refused},
				refused,
			},
			{
				"store of the copies without objects",
				func(s *fakeServer) driver.Store { return s },
				storeDriver{store: drivertest.NewMapStore(nil)},
				nil,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				var closed bool
				s := newServer()
				store := tc.store(s)
				server := storeDriver{store: closeRecorder{store, &closed}}
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
				if s.watchCtx != nil && s.watchCtx.Err() == nil {
					t.Error("the watch is still running")
				}
			})
		}
	})
}

func TestResolve_Near(t *testing.T) {
	_, err := resolveIn(registryOf(drivertest.MapDriver{}),
		xcache.Options{Driver: "map", NearMaxEntries: 1})
	if !errors.Is(err, xcache.ErrUnknownDriver) {
		t.Errorf("Resolve = %v, want ErrUnknownDriver", err)
	}
	for _, want := range []string{
		"near cache", `"memory"`,
		`import _ "github.com/plinthgo/plinth/cacheplugins/memory"`, "TTL 0s is not positive",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve = %v, want %q in it", err, want)
		}
	}
	r := nearRegistry(storeDriver{}, storeDriver{})
	_, err = resolveIn(r, xcache.Options{Driver: "server", NearMaxEntries: -1, NearTTL: 1})
	if want := "near cache: configure memory: negative bound"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("Resolve = %v, want the driver's problem", err)
	}
	_, err = resolveIn(r, xcache.Options{Driver: "server", NearMaxEntries: 1, NearTTL: 1})
	if err != nil {
		t.Errorf("Resolve = %v, want nil", err)
	}
}

// closeRecorder records that it was closed.
type closeRecorder struct {
	driver.Store
	closed *bool
}

func (c closeRecorder) Close() error {
	*c.closed = true
	return c.Store.Close()
}

func TestNew_Near(t *testing.T) {
	for want, o := range map[string]xcache.Options{
		"is not an in-process object store": {
			NearStore: drivertest.NewMapStore(nil), NearTTL: time.Second,
		},
		"TTL 0s": {NearStore: newCopies()},
	} {
		_, err := xcache.New(newServer(), func(options *xcache.Options) {
			options.NearStore, options.NearTTL = o.NearStore, o.NearTTL
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want %q in it", err, want)
		}
	}
}
