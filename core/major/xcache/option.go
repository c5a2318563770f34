package xcache

import (
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Option changes one write. It is a value, so that a call with options allocates nothing
// for them.
type Option struct {
	ttl       time.Duration
	explicit  bool // the option gives ttl
	keep      bool
	condition driver.Condition
	stored    *bool
}

// WithTTL sets how long the key lives; 0 is for ever, negative an error. The resolution
// is a millisecond, rounded up.
func WithTTL(ttl time.Duration) Option { return Option{ttl: ttl, explicit: true} }

// WithNX writes only what is not there yet: the key, or in a hash all of the call's
// fields.
func WithNX() Option { return Option{condition: driver.IfAbsent} }

// WithXX writes only what is there already: the key, or in a hash all of the call's
// fields.
func WithXX() Option { return Option{condition: driver.IfPresent} }

// WithKeepTTL leaves the life of a key that exists as it is. A key that the write makes
// gets the TTL of WithTTL or the default.
func WithKeepTTL() Option { return Option{keep: true} }

// WithNoSlide is WithKeepTTL under the name that fits a hash, set or list, whose life
// every update would otherwise slide.
func WithNoSlide() Option { return Option{keep: true} }

// WithStored tells through stored whether the write took effect, which it did unless
// WithNX or WithXX held it back. Where the call fails, stored is false.
func WithStored(stored *bool) Option { return Option{stored: stored} }

// done reports the outcome to WithStored.
func (o *Option) done(stored bool) {
	if o.stored != nil {
		*o.stored = stored
	}
}

// write returns the write that o asks for, with a jitter of its own.
func (o *Option) write(m *Manager) driver.Write {
	return driver.Write{TTL: m.life(o.ttl), Keep: o.keep, If: o.condition}
}

// resolve folds the options of a call into one.
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
		return w, fmt.Errorf("%w: NX and XX exclude each other", ErrOption)
	}
	if w.ttl < 0 {
		return w, fmt.Errorf("%w: TTL %s is negative", ErrOption, w.ttl)
	}
	return w, nil
}
