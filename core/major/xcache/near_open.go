package xcache

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nearDriver is the backend that stores the copies.
const nearDriver = "memory"

// nearConfig returns the settings of the near cache's backend.
func (o Options) nearConfig() driver.Config {
	return driver.Config{MaxEntries: o.NearMaxEntries, Now: o.Config.Now, Source: o.Config.Source}
}

// watchNear creates a near cache in o.NearStore and starts to watch the manager's store.
func (m *Manager) watchNear(o Options) error {
	values, ok := o.NearStore.(driver.ObjectStore)
	if !ok {
		return fmt.Errorf("xcache: near cache: %T is not an in-process object store", o.NearStore)
	}
	server, ok := m.store.(driver.Invalidator)
	if !ok {
		return fmt.Errorf("xcache: near cache: %w: %s does not report changed keys",
			driver.ErrConfig, m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &near{
		store: o.NearStore, values: values, ttl: o.NearTTL, seed: maphash.MakeSeed(),
		server: server, stop: cancel,
	}
	if err := server.Watch(ctx, m.options.Prefix, n); err != nil {
		cancel()
		return fmt.Errorf("xcache: near cache: %w", err)
	}
	m.near = n
	return nil
}

// manage returns the manager of an opened store, with a near cache if one is configured.
// The setting has no effect for an in-process store, so that a change of the backend
// needs only one variable.
func (c *Cache) manage(ctx context.Context, store driver.Store) (*Manager, error) {
	o := c.options
	if c.near == nil {
		return manage(store, o)
	}
	if _, inProcess := store.(driver.ObjectStore); inProcess {
		o.Log.Info(ctx, "near cache not used with an in-process backend",
			slog.String("driver", o.Driver))
		return manage(store, o)
	}
	copies, err := c.near.Open(ctx, o.nearConfig())
	if err != nil {
		return nil, fmt.Errorf("xcache: near cache: open %s: %w", nearDriver, err)
	}
	o.NearStore = copies
	m, err := manage(store, o)
	if err != nil {
		return nil, errors.Join(err, copies.Close())
	}
	return m, nil
}
