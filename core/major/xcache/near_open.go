package xcache

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nearConfig returns the settings of the near cache's backend.
func (o Options) nearConfig() driver.Config {
	return driver.Config{MaxEntries: o.Near.MaxEntries, Now: o.Config.Now, Source: o.Config.Source}
}

// watchNear begins to watch the manager's store for the near cache.
func (m *Manager) watchNear(o *NearOptions) error {
	if o == nil {
		return nil
	}
	source, ok := m.store.(driver.Invalidator)
	if !ok {
		return fmt.Errorf("xcache: near cache: %w: %s does not tell of keys that change", driver.ErrConfig, m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &near{
		store: o.store, ttl: o.TTL, seed: maphash.MakeSeed(), server: m.store, batcher: m.batcher, stop: cancel,
	}
	n.values, _ = o.store.(driver.ObjectStore)
	n.lives, _ = m.store.(driver.TTLReader)
	if err := source.Watch(ctx, m.prefix, n); err != nil {
		cancel()
		return fmt.Errorf("xcache: near cache: %w", err)
	}
	m.near = n
	return nil
}

// manage returns the manager of a store that has been opened, with the near cache of the options. A store in the process
// needs none: it is as near as that itself, and a service that moves from one to the other changes one variable.
func (c *Cache) manage(ctx context.Context, store driver.Store) (*Manager, error) {
	o := c.options
	if _, inProcess := store.(driver.ObjectStore); inProcess && o.Near != nil {
		o.Log.Info(ctx, "near cache left out: the backend is in the process itself", slog.String("driver", o.Driver))
		o.Near = nil
	}
	if o.Near == nil {
		return manage(store, o) // the watch goes on until Close
	}
	copies, err := c.near.Open(ctx, o.nearConfig())
	if err != nil {
		return nil, fmt.Errorf("xcache: near cache: open %s: %w", o.Near.driver(), err)
	}
	o.Near = &NearOptions{TTL: o.Near.TTL, store: copies, storeSet: true}
	err = o.Near.check()
	if err == nil {
		var m *Manager
		if m, err = manage(store, o); err == nil {
			return m, nil
		}
	}
	return nil, errors.Join(err, copies.Close())
}
