// Package memory registers the "memory" cache backend, an in-process store based on the
// otter engine.
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/memory"
//
// It reads NOSQL_MEMORY_DEFAULT_TTL, NOSQL_MEMORY_MAX_ENTRIES and
// NOSQL_MEMORY_SHARD_COUNT.
//
// MAX_ENTRIES is an exact limit for all keys of all kinds together: a reader never sees
// more. At the limit the engine retains frequently used entries (W-TinyLFU), which may
// not be the newest. SHARD_COUNT is the number of locks for writes and for reads of
// hashes, sets and lists; it affects concurrency only. Reads of plain values do not lock.
// An entry is visible until its TTL has elapsed, and not afterwards. Expired entries are
// removed in small batches.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func init() {
	xenv.Register[settings]("Cache: memory")
	xcache.Register(Driver{})
}

type settings struct {
	DefaultTTL time.Duration `env:"NOSQL_MEMORY_DEFAULT_TTL" default:"0" max:"876000h" unit:"1s" doc:"Default TTL; 0 means no expiry."`
	MaxEntries int           `env:"NOSQL_MEMORY_MAX_ENTRIES" default:"100000" min:"1" max:"2147483647" doc:"Maximum number of entries."`
	ShardCount int           `env:"NOSQL_MEMORY_SHARD_COUNT" default:"32" min:"1" max:"65536" doc:"Number of locks for writes and for reads of hashes, sets and lists."`
}

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return "memory" }

// InterfaceVersion implements driver.Versioned.
func (Driver) InterfaceVersion() int { return 1 }

// Check implements driver.Driver.
func (Driver) Check(c driver.Config) error {
	_, err := load(c)
	return err
}

// load returns the settings. A limit in the options overrides the variable.
func load(c driver.Config) (settings, error) {
	s, err := xenv.Load[settings](c.Source)
	if c.MaxEntries < 0 {
		err = errors.Join(err, fmt.Errorf("MaxEntries %d is not positive", c.MaxEntries))
	}
	s.MaxEntries = cmp.Or(c.MaxEntries, s.MaxEntries)
	return s, err
}

// Open implements driver.Driver.
func (Driver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	s, err := load(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrConfig, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return newStore(s, c.Now)
}
