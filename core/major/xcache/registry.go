package xcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/plugin"
	"github.com/plinthgo/plinth/core/major/internal/retry"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var (
	// ErrUnknownDriver reports that no imported driver has the configured name.
	ErrUnknownDriver = errors.New("unsupported cache driver")
	// ErrInterface reports a backend that implements another version of the driver
	// interface.
	ErrInterface = errors.New("incompatible cache driver")
)

var family = plugin.Family{
	Package: "xcache",
	Root:    "github.com/plinthgo/plinth/cacheplugins/",
	Own:     []string{"memory", "redis"},
	Unknown: ErrUnknownDriver,

	Interface: driver.InterfaceVersion,
	Mismatch:  ErrInterface,
}

// attemptTimeout is the timeout of one connection attempt.
const attemptTimeout = 5 * time.Second

// Registry finds drivers by name. The zero value is empty and ready to use.
type Registry struct{ drivers plugin.Set[driver.Driver] }

// imported contains the drivers that plugins registered in init.
var imported Registry

// Register adds d to the imported drivers. Plugins call it from init.
func Register(d driver.Driver) { imported.Register(d) }

// Drivers returns the names of the imported drivers, sorted.
func Drivers() []string { return imported.drivers.Names() }

// Register adds d. It panics if the name is empty or already registered.
func (r *Registry) Register(d driver.Driver) { r.drivers.Add(family, d) }

// find returns the driver called name after it has checked the settings. The error starts
// with variable if the driver is missing, and with subject if a setting is invalid.
func (r *Registry) find(variable, subject, name string, c driver.Config) (driver.Driver, error) {
	d, err := r.drivers.Find(family, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	if err := d.Check(c); err != nil {
		return nil, fmt.Errorf("%s: configure %s: %w", subject, name, err)
	}
	return d, nil
}

// Cache is a resolved cache: its options and its checked drivers. See Resolve.
type Cache struct {
	options      Options
	driver, near driver.Driver // nil without a near cache
}

// Resolve finds the drivers of o in the registry of WithRegistry, by default among the
// imported drivers. It checks all settings without connecting. The error joins every
// problem.
func Resolve(o Options) (*Cache, error) {
	o.Log = cmp.Or(o.Log, xlog.WithName(xlog.NamedCACHE))
	drivers := cmp.Or(o.registry, &imported)
	c := &Cache{options: o}
	var nearErr, err error
	if o.NearMaxEntries != 0 {
		c.near, nearErr = drivers.find("xcache: near cache", "xcache: near cache",
			nearDriver, o.nearConfig())
	}
	c.driver, err = drivers.find(string(xenv.NoSqlDriver), "xcache", o.Driver, o.Config)
	if err := errors.Join(append(o.check(), nearErr, err)...); err != nil {
		return nil, err
	}
	return c, nil
}

// Open resolves o and opens the cache.
func Open(ctx context.Context, o Options) (*Manager, error) {
	c, err := Resolve(o)
	if err != nil {
		return nil, err
	}
	return c.Open(ctx)
}

// Open connects to the backend and pings it. It retries with growing backoff until
// Options.ConnectTimeout and logs each failed attempt. If Open fails, it closes
// everything that it opened.
func (c *Cache) Open(ctx context.Context) (*Manager, error) {
	o := c.options
	store, err := connect(ctx, c.driver, o)
	if err != nil {
		return nil, fmt.Errorf("xcache: open %s: %w", o.Driver, err)
	}
	m, err := c.manage(ctx, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	o.Log.Info(ctx, "cache opened", slog.String("driver", o.Driver), slog.String("at", m.String()))
	return m, nil
}

// connect opens the store. It retries until the connect timeout.
func connect(ctx context.Context, d driver.Driver, o Options) (driver.Store, error) {
	return retry.Connect(ctx, o.ConnectTimeout, func(int) (driver.Store, error) {
		return tryOpen(ctx, d, o.Config)
	}, func(err error) bool { return !errors.Is(err, driver.ErrConfig) },
		func(attempt int, pause time.Duration, err error) {
			o.Log.Warn(ctx, "cache not reachable, retrying",
				slog.String("driver", d.Name()), slog.Int("attempt", attempt),
				slog.Duration("next", pause), slog.String("error", err.Error()))
		})
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
