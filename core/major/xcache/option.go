package xcache

import (
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Option changes one write. It is a value, so that a call with options allocates nothing for them.
type Option struct {
	kind   optionKind
	ttl    time.Duration
	stored *bool
}

type optionKind uint8

const (
	optTTL optionKind = iota + 1
	optNX
	optXX
	optKeep
	optStored
)

// WithTTL sets how long the key lives; 0 is for ever, negative an error. The resolution is a
// millisecond, rounded up.
func WithTTL(ttl time.Duration) Option { return Option{kind: optTTL, ttl: ttl} }

// WithNX writes only what is not there yet: the key, or in a hash all of the call's fields.
func WithNX() Option { return Option{kind: optNX} }

// WithXX writes only what is there already: the key, or in a hash all of the call's fields.
func WithXX() Option { return Option{kind: optXX} }

// WithKeepTTL leaves the life of a key that exists as it is. A key that the write makes gets the TTL of
// WithTTL or the default.
func WithKeepTTL() Option { return Option{kind: optKeep} }

// WithNoSlide is WithKeepTTL under the name that fits a hash, set or list, whose life every update
// would otherwise slide.
func WithNoSlide() Option { return Option{kind: optKeep} }

// WithStored tells through stored whether the write took effect, which it did unless WithNX or WithXX
// held it back. Where the call fails, stored is false.
func WithStored(stored *bool) Option { return Option{kind: optStored, stored: stored} }

// write is what the options of one call come to.
type write struct {
	driver.Write
	asked    time.Duration // the TTL before rounding and jitter
	explicit bool          // the call itself gave the TTL
	stored   *bool
}

// done reports the outcome to WithStored.
func (w *write) done(stored bool) {
	if w.stored != nil {
		*w.stored = stored
	}
}

// resolveUpdate is resolve for the update of a collection, where no TTL at all means that there is nothing
// to slide to.
func (v *view) resolveUpdate(opts []Option) (write, error) {
	w, err := v.resolve(opts)
	if !w.explicit && w.TTL == 0 {
		w.Keep = true
	}
	return w, err
}

// resolve folds the options of a call.
func (v *view) resolve(opts []Option) (write, error) {
	w := write{Write: driver.Write{TTL: v.ttl}}
	var nx, xx bool
	for _, o := range opts {
		switch o.kind {
		case optTTL:
			w.TTL, w.explicit = o.ttl, true
		case optNX:
			nx, w.If = true, driver.IfAbsent
		case optXX:
			xx, w.If = true, driver.IfPresent
		case optKeep:
			w.Keep = true
		case optStored:
			w.stored = o.stored
			w.done(false)
		}
	}
	if nx && xx {
		return w, fmt.Errorf("%w: NX and XX exclude each other", ErrOption)
	}
	if w.TTL < 0 {
		return w, fmt.Errorf("%w: TTL %s is negative", ErrOption, w.TTL)
	}
	w.asked, w.TTL = w.TTL, v.m.life(w.TTL)
	return w, nil
}
