package xcache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/plugin"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var (
	// ErrUnknownDriver reports that no imported plugin has the wanted name.
	ErrUnknownDriver = errors.New("unsupported cache driver")
	// ErrInterface reports that the backend was written for another version of the driver interface.
	ErrInterface = errors.New("cache driver and core do not fit")
)

var family = plugin.Family{
	Package: "xcache",
	Root:    "github.com/plinthgo/plinth/cacheplugins/",
	Own:     []string{"memory", "redis"},
	Unknown: ErrUnknownDriver,

	Interface: driver.InterfaceVersion,
	Mismatch:  ErrInterface,
}

const (
	attemptTimeout = 5 * time.Second // of one attempt to connect
	firstWait      = 250 * time.Millisecond
	longWait       = 5 * time.Second
)

// Options are what Open needs to know.
type Options struct {
	// Driver is the name of the backend.
	Driver string
	// Config holds its settings.
	Config driver.Config
	// ConnectTimeout bounds how long Open waits for a backend that is not there yet; 0 tries once.
	ConnectTimeout time.Duration
	// Near describes a near cache in front of a server that tells of keys that change; nil is none. A backend in the
	// process needs none, and does without.
	Near *NearOptions
	// Manager are the options of the manager.
	Manager []ManagerOption
	// Log gets a line for each attempt that failed. Nil is the log named CACHE.
	Log *xlog.LogNamedLogger
}

// Registry finds drivers by name. The zero value is empty and ready to use.
type Registry struct{ drivers plugin.Set[driver.Driver] }

// defaultRegistry is filled by the init functions of plugins.
var defaultRegistry Registry

// DefaultRegistry returns the registry that plugins register with.
func DefaultRegistry() *Registry { return &defaultRegistry }

// Register adds d to the default registry; plugins call it from init.
func Register(d driver.Driver) { defaultRegistry.Register(d) }

// Drivers returns the names of the imported drivers, sorted.
func Drivers() []string { return defaultRegistry.Drivers() }

// Check is Registry.Check on the default registry.
func Check(o Options) error { return defaultRegistry.Check(o) }

// Open is Registry.Open on the default registry.
func Open(ctx context.Context, o Options) (*Manager, error) { return defaultRegistry.Open(ctx, o) }

// Register adds d. It panics where the name is empty or taken.
func (r *Registry) Register(d driver.Driver) { r.drivers.Add(family, d) }

// Drivers returns the names of the registered drivers, sorted.
func (r *Registry) Drivers() []string { return r.drivers.Names() }

// lookup returns the driver called name. The error says how to get it.
func (r *Registry) lookup(name string) (driver.Driver, error) {
	d, err := r.drivers.Find(family, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", xenv.NoSqlDriver, err)
	}
	return d, nil
}

// Check returns every problem of o that can be known without a connection, joined.
func (r *Registry) Check(o Options) error {
	c := managerConfig{codec: JSON}
	problems := []error{c.apply(o.Manager), r.checkNear(o)}
	if o.ConnectTimeout < 0 {
		problems = append(problems, fmt.Errorf("xcache: connect timeout %s is negative", o.ConnectTimeout))
	}
	d, err := r.lookup(o.Driver)
	if err != nil {
		return errors.Join(append(problems, err)...)
	}
	if err := d.Check(o.Config); err != nil {
		problems = append(problems, fmt.Errorf("xcache: configure %s: %w", o.Driver, err))
	}
	return errors.Join(problems...)
}

// Open checks o, connects and asks the backend for an answer. A backend that is not there yet is tried
// again, at growing intervals and with a line in the log for each attempt, until o.ConnectTimeout. Where
// Open fails, nothing stays open.
func (r *Registry) Open(ctx context.Context, o Options) (*Manager, error) {
	if err := r.Check(o); err != nil {
		return nil, err
	}
	d, err := r.lookup(o.Driver)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = xlog.WithName(xlog.NamedCACHE)
	}
	store, err := connect(ctx, d, o)
	if err != nil {
		return nil, fmt.Errorf("xcache: open %s: %w", o.Driver, err)
	}
	m, err := r.manage(ctx, o, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	o.Log.Info(ctx, "cache opened", slog.String("driver", o.Driver), slog.String("at", m.String()))
	return m, nil
}

// connect opens the store, however often that takes.
func connect(ctx context.Context, d driver.Driver, o Options) (driver.Store, error) {
	start := time.Now()
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, min(2*wait, longWait) {
		store, err := tryOpen(ctx, d, o.Config)
		pause := wait/2 + rand.N(wait/2+1) //nolint:gosec // half of it is jitter, since replicas start together; no secret
		switch {
		case err == nil:
			return store, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case errors.Is(err, driver.ErrConfig):
			return nil, err
		case time.Since(start)+pause >= o.ConnectTimeout:
			return nil, fmt.Errorf("gave up at attempt %d: %w", attempt, err)
		}
		o.Log.Warn(ctx, "cache not reachable yet", slog.String("driver", d.Name()), slog.Int("attempt", attempt),
			slog.Duration("next", pause), slog.String("error", err.Error()))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func tryOpen(ctx context.Context, d driver.Driver, c driver.Config) (driver.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	store, err := d.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := store.Ping(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
