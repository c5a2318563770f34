package xcache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a driver whose Open returns the errors of a script, then succeeds.
type scripted struct {
	drivertest.MapDriver
	check  error
	script *[]error
	store  driver.Store
}

func (d scripted) Check(driver.Config) error { return d.check }

func (d scripted) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	if len(*d.script) > 0 {
		err := (*d.script)[0]
		*d.script = (*d.script)[1:]
		return nil, err
	}
	if d.store != nil {
		return d.store, nil
	}
	return d.MapDriver.Open(ctx, c)
}

func registryOf(d driver.Driver) *xcache.Registry {
	var r xcache.Registry
	r.Register(d)
	return &r
}

// openIn opens the cache of o with the drivers of r.
func openIn(ctx context.Context, r *xcache.Registry, o xcache.Options) (*xcache.Manager, error) {
	xcache.WithRegistry(r)(&o)
	return xcache.Open(ctx, o)
}

func TestOpen(t *testing.T) {
	t.Run("names the import of an unknown driver", func(t *testing.T) {
		r := registryOf(drivertest.MapDriver{})
		_, err := openIn(t.Context(), r, xcache.Options{Driver: "redis"})
		if !errors.Is(err, xcache.ErrUnknownDriver) {
			t.Fatalf("Open = %v, want ErrUnknownDriver", err)
		}
		for _, want := range []string{
			`"redis"`, "imported: map", `import _ "github.com/plinthgo/plinth/cacheplugins/redis"`,
			"go get github.com/plinthgo/plinth/cacheplugins/redis",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error %q does not contain %q", err, want)
			}
		}
		_, err = openIn(t.Context(), new(xcache.Registry), xcache.Options{Driver: "radis"})
		if err == nil || !strings.Contains(err.Error(), "imported: none") ||
			!strings.Contains(err.Error(), "memory, redis") {
			t.Errorf("the error %v does not list the imported and the available drivers", err)
		}
	})

	t.Run("closes the store after an error", func(t *testing.T) {
		store := &unresponsive{MapStore: drivertest.NewMapStore(nil)}
		_, err := openIn(t.Context(), registryOf(scripted{script: &[]error{}, store: store}),
			xcache.Options{Driver: "map"})
		if err == nil || !store.closed {
			t.Errorf("Open = %v, closed = %t; want an error and a closed store", err, store.closed)
		}
	})
}

func TestRegistry_Register_Duplicate(t *testing.T) {
	r := registryOf(drivertest.MapDriver{})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	r.Register(drivertest.MapDriver{})
}

func TestResolve(t *testing.T) {
	problem := errors.New("the port is odd")
	r := registryOf(scripted{check: problem})
	_, err := xcache.Resolve(xcache.NewOptions(
		xcache.WithRegistry(r), xcache.WithDriver("map"), xcache.WithConnectTimeout(-1),
		xcache.WithDefaultTTL(-time.Second), xcache.WithTTLJitter(2),
	))
	if !errors.Is(err, problem) {
		t.Errorf("Resolve = %v, want the driver's problem in it", err)
	}
	for _, want := range []string{"default TTL -1s", "jitter 2", "connect timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve = %v, want %q in it", err, want)
		}
	}
}

func TestOpen_Retry(t *testing.T) {
	t.Run("retries until the backend is reachable", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			down := errors.New("connection refused")
			script := []error{down, down, down}
			start := time.Now()
			m, err := openIn(t.Context(), registryOf(scripted{script: &script}),
				xcache.Options{Driver: "map", ConnectTimeout: 30 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			elapsed := time.Since(start)
			if elapsed < 500*time.Millisecond || elapsed > 5*time.Second {
				t.Errorf("Open returned after %s, want growing pauses", elapsed)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("stops with an error", func(t *testing.T) {
		down := errors.New("connection refused")
		always := func() *[]error {
			script := make([]error, 1000)
			for i := range script {
				script[i] = down
			}
			return &script
		}
		for name, tc := range map[string]struct {
			script  *[]error
			timeout time.Duration
			cancel  bool
			want    error
			within  time.Duration
		}{
			"connect timeout": {
				always(), 10 * time.Second, false, down, 10 * time.Second,
			},
			"no retry with a zero timeout": {always(), 0, false, down, 0},
			"invalid setting": {
				&[]error{driver.ErrConfig}, time.Hour, false, driver.ErrConfig, 0,
			},
			"context ended": {
				always(), time.Hour, true, context.DeadlineExceeded, 3 * time.Second,
			},
			"last error after the deadline": {always(), time.Hour, true, down, 3 * time.Second},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx := t.Context()
					if tc.cancel {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, 3*time.Second)
						defer cancel()
					}
					start := time.Now()
					_, err := openIn(ctx, registryOf(scripted{script: tc.script}),
						xcache.Options{Driver: "map", ConnectTimeout: tc.timeout})
					if !errors.Is(err, tc.want) {
						t.Errorf("Open = %v, want %v", err, tc.want)
					}
					if elapsed := time.Since(start); elapsed > tc.within {
						t.Errorf("Open returned after %s, want at most %s", elapsed, tc.within)
					}
				})
			})
		}
	})
}

// unresponsive is a store whose Ping fails.
type unresponsive struct {
	*drivertest.MapStore
	closed bool
}

func (*unresponsive) Ping(context.Context) error { return errors.New("no response") }

func (m *unresponsive) Close() error {
	m.closed = true
	return nil
}

// outdated is a backend for another interface version.
type outdated struct{ storeDriver }

func (outdated) InterfaceVersion() int { return driver.InterfaceVersion - 1 }

func TestOpen_InterfaceVersion(t *testing.T) {
	var r xcache.Registry
	r.Register(outdated{storeDriver{name: "old"}})
	_, err := openIn(t.Context(), &r, xcache.Options{Driver: "old"})
	if !errors.Is(err, xcache.ErrInterface) || !strings.Contains(err.Error(), "go get ") {
		t.Errorf("Open = %v, want ErrInterface and a go get command", err)
	}
}
