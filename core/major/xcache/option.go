package xcache

import (
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Option configures one write. It is a value type, so options do not allocate.
type Option struct {
	ttl       time.Duration
	explicit  bool // ttl was set by WithTTL
	keep      bool
	condition driver.Condition
	stored    *bool
}

// WithTTL sets the time to live of the key, rounded up to a millisecond; 0 means no
// expiry. A negative ttl is an error.
func WithTTL(ttl time.Duration) Option { return Option{ttl: ttl, explicit: true} }

// WithNX writes only if the key does not exist, or, in a hash, if no field of the call
// exists.
func WithNX() Option { return Option{condition: driver.IfAbsent} }

// WithXX writes only if the key exists, or, in a hash, if all of the call's fields exist.
func WithXX() Option { return Option{condition: driver.IfPresent} }

// WithKeepTTL keeps the current TTL of an existing key. A new key gets the TTL of WithTTL
// or the default.
func WithKeepTTL() Option { return Option{keep: true} }

// WithNoSlide is WithKeepTTL for hashes, sets and lists, whose updates otherwise reset
// the TTL.
func WithNoSlide() Option { return Option{keep: true} }

// WithStored sets *stored to whether the write took effect. It is false if WithNX or
// WithXX prevented the write, and after an error.
func WithStored(stored *bool) Option { return Option{stored: stored} }

func (o *Option) done(stored bool) {
	if o.stored != nil {
		*o.stored = stored
	}
}

// write converts o to a driver.Write and applies jitter to its TTL.
func (o *Option) write(m *Manager) driver.Write {
	return driver.Write{TTL: m.effectiveTTL(o.ttl), KeepTTL: o.keep, If: o.condition}
}

// resolve merges the options of a call.
func (v *view) resolve(opts []Option) (Option, error) {
	w := Option{ttl: v.ttl}
	conflict := false
	for _, o := range opts {
		if o.explicit {
			w.ttl, w.explicit = o.ttl, true
		}
		w.keep = w.keep || o.keep
		if o.condition != driver.Always {
			conflict = conflict || w.condition != driver.Always && w.condition != o.condition
			w.condition = o.condition
		}
		if o.stored != nil {
			w.stored = o.stored
			w.done(false)
		}
	}
	if conflict {
		return w, fmt.Errorf("%w: NX and XX are mutually exclusive", ErrOption)
	}
	if w.ttl < 0 {
		return w, fmt.Errorf("%w: TTL %s is negative", ErrOption, w.ttl)
	}
	return w, nil
}
