// Package memory registers the "memory" cache backend: a store in the process, over the otter engine.
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/memory"
//
// It reads NOSQL_MEMORY_DEFAULT_TTL, NOSQL_MEMORY_MAX_ENTRIES and NOSQL_MEMORY_SHARD_COUNT.
//
// MAX_ENTRIES bounds all keys of all kinds together, exactly: no reader ever sees more. At the bound the
// engine keeps what is used often (W-TinyLFU), which may not be the newest. SHARD_COUNT is the number of
// locks that writes, and reads of hashes, sets and lists, are spread over; it changes nothing but how
// many of them run at the same time. Reads of plain values take no lock. An entry may be seen up to 10 ms
// after its end, never less long than it was given. What has expired is removed a few entries at a time.
package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The defaults, the same as those of the environment.
const (
	DefaultMaxEntries = 100_000
	DefaultShardCount = 32
)

// maxShards bounds the memory that locks take.
const maxShards = 1 << 16

func init() { xcache.Register(Driver{}) }

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return "memory" }

// InterfaceVersion implements driver.Versioned.
func (Driver) InterfaceVersion() int { return 1 }

// Check implements driver.Driver.
func (Driver) Check(c driver.Config) error {
	var problems []error
	if c.Memory.DefaultTTL < 0 {
		problems = append(problems, fmt.Errorf("default TTL %s is negative", c.Memory.DefaultTTL))
	}
	if c.Memory.MaxEntries < 0 {
		problems = append(problems, fmt.Errorf("%d entries at most: the bound must be positive", c.Memory.MaxEntries))
	}
	if n := c.Memory.ShardCount; n < 0 || n > maxShards {
		problems = append(problems, fmt.Errorf("%d shards: the number must be between 1 and %d", n, maxShards))
	}
	return errors.Join(problems...)
}

// Open implements driver.Driver. It connects to nothing.
func (d Driver) Open(ctx context.Context, c driver.Config) (driver.Store, error) {
	if err := d.Check(c); err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrConfig, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Memory.MaxEntries == 0 {
		c.Memory.MaxEntries = DefaultMaxEntries
	}
	if c.Memory.ShardCount == 0 {
		c.Memory.ShardCount = DefaultShardCount
	}
	return newStore(c)
}
