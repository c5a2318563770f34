// Package memory registers the "memory" cache backend: a store in the process, over the
// otter engine.
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/memory"
//
// It reads NOSQL_MEMORY_DEFAULT_TTL, NOSQL_MEMORY_MAX_ENTRIES and
// NOSQL_MEMORY_SHARD_COUNT.
//
// MAX_ENTRIES bounds all keys of all kinds together, exactly: no reader ever sees more.
// At the bound the engine keeps what is used often (W-TinyLFU), which may not be the
// newest. SHARD_COUNT is the number of locks that writes, and reads of hashes, sets and
// lists, are spread over; it changes nothing but how many of them run at the same time.
// Reads of plain values take no lock. An entry may be seen up to 10 ms after its end,
// never less long than it was given. What has expired is removed a few entries at a time.
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
	DefaultTTL time.Duration `env:"NOSQL_MEMORY_DEFAULT_TTL" default:"0" max:"876000h" unit:"1s" doc:"TTL of an entry that is set without one; 0 is for ever."`
	MaxEntries int           `env:"NOSQL_MEMORY_MAX_ENTRIES" default:"100000" min:"1" max:"2147483647" doc:"Entries at most, in all."`
	ShardCount int           `env:"NOSQL_MEMORY_SHARD_COUNT" default:"32" min:"1" max:"65536" doc:"Number of locks among which hash, set and list updates are spread."`
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

// load returns the settings; a bound of the options wins over that of the variable.
func load(c driver.Config) (settings, error) {
	s, err := xenv.Load[settings](c.Source)
	if c.MaxEntries < 0 {
		err = errors.Join(err,
			fmt.Errorf("%d entries at most: the bound must be positive", c.MaxEntries))
	}
	s.MaxEntries = cmp.Or(c.MaxEntries, s.MaxEntries)
	return s, err
}

// Open implements driver.Driver. It connects to nothing.
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
