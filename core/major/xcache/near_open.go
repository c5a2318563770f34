package xcache

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// NearOptions describe a near cache: copies of values in the process, which the server keeps up to date.
type NearOptions struct {
	// Driver is the name of the backend that holds the copies. It must keep objects, as "memory" does, which is the
	// default.
	Driver string
	// MaxEntries bounds the copies; 0 is the backend's default.
	MaxEntries int
	// TTL bounds the life of a copy. It must be positive.
	TTL time.Duration
}

func (o *NearOptions) driver() string {
	if o.Driver == "" {
		return "memory"
	}
	return o.Driver
}

// nearConfig returns the settings of the near cache's backend.
func (o *Options) nearConfig() driver.Config {
	return driver.Config{Memory: driver.Memory{MaxEntries: o.Near.MaxEntries}, Now: o.Config.Now}
}

// WithNear keeps copies of the values that KeyCache views read in store, which must be a driver.ObjectStore; ttl bounds
// their lives. The manager's own store must be a driver.Invalidator, which drops what it says has changed. The manager
// owns store once New has returned without an error.
//
// Registry.Open does the same from Options.Near.
func WithNear(store driver.Store, ttl time.Duration) ManagerOption {
	return func(c *managerConfig) { c.near, c.nearTTL, c.nearSet = store, ttl, true }
}

// checkNear returns every problem of the near cache's options.
func (c *managerConfig) checkNear() error {
	if !c.nearSet {
		return nil
	}
	var problems []error
	if _, ok := c.near.(driver.ObjectStore); !ok {
		problems = append(problems, fmt.Errorf("xcache: near cache: %T does not keep objects in the process", c.near))
	}
	return errors.Join(append(problems, checkNearTTL(c.nearTTL))...)
}

func checkNearTTL(ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("xcache: near cache: TTL %s is not positive", ttl)
	}
	return nil
}

// watchNear begins to watch the manager's store for the near cache.
func (m *Manager) watchNear(c *managerConfig) error {
	if !c.nearSet {
		return nil
	}
	source, ok := m.store.(driver.Invalidator)
	if !ok {
		return fmt.Errorf("xcache: near cache: %w: %s does not tell of keys that change", driver.ErrConfig, m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &near{
		store: c.near, ttl: c.nearTTL, seed: maphash.MakeSeed(), server: m.store, batcher: m.batcher, stop: cancel,
	}
	n.values, _ = c.near.(driver.ObjectStore)
	n.lives, _ = m.store.(driver.TTLReader)
	if err := source.Watch(ctx, m.prefix, n); err != nil {
		cancel()
		return fmt.Errorf("xcache: near cache: %w", err)
	}
	m.near = n
	return nil
}

// checkNear returns every problem of o.Near that can be known without a connection.
func (r *Registry) checkNear(o Options) error {
	if o.Near == nil {
		return nil
	}
	problems := []error{checkNearTTL(o.Near.TTL)}
	d, err := r.drivers.Find(family, o.Near.driver())
	if err != nil {
		problems = append(problems, fmt.Errorf("xcache: near cache: %w", err))
	} else if err := d.Check(o.nearConfig()); err != nil {
		problems = append(problems, fmt.Errorf("xcache: near cache: configure %s: %w", o.Near.driver(), err))
	}
	return errors.Join(problems...)
}

// manage returns the manager of a store that has been opened, with the near cache of o.
func (r *Registry) manage(ctx context.Context, o Options, store driver.Store) (*Manager, error) {
	near, err := r.openNear(ctx, o, store)
	if err != nil {
		return nil, err
	}
	if near == nil {
		return New(store, o.Manager...) //nolint:contextcheck // the watch goes on until Close
	}
	m, err := New(store, append(slices.Clone(o.Manager), WithNear(near, o.Near.TTL))...) //nolint:contextcheck // as above
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return m, nil
}

// openNear opens the store of the near cache; nil is none. A store in the process needs none: it is as near as that
// itself, and a service that moves from one to the other changes one variable.
func (r *Registry) openNear(ctx context.Context, o Options, store driver.Store) (driver.Store, error) {
	if o.Near == nil {
		return nil, nil
	}
	if _, inProcess := store.(driver.ObjectStore); inProcess {
		o.Log.Info(ctx, "near cache left out: the backend is in the process itself", slog.String("driver", o.Driver))
		return nil, nil
	}
	d, err := r.drivers.Find(family, o.Near.driver())
	if err != nil {
		return nil, fmt.Errorf("xcache: near cache: %w", err)
	}
	near, err := d.Open(ctx, o.nearConfig())
	if err != nil {
		return nil, fmt.Errorf("xcache: near cache: open %s: %w", o.Near.driver(), err)
	}
	return near, nil
}
