package xsnowflake

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClock means that the clock is unusable: the wall clock is further behind the node's
// ids than the node rides out, or shows a time that the layout cannot hold, or no new
// millisecond came in reasonable time. The first passes when the wall clock has caught
// up.
var ErrClock = errors.New("xsnowflake: the clock is unusable")

// How long the monotonic clock is trusted before the wall clock is looked at again.
const (
	recheck        = int64(time.Millisecond)
	recheckSlewing = recheck / 8
)

// longestSlew bounds the time that counts for slewing: what was idle need not be spread.
const longestSlew = 10 * recheck

// clock is the time that ids carry, in nanoseconds since the epoch of the layout.
//
// It runs on the monotonic clock and follows the wall clock, which it compares once a
// millisecond. Where the wall clock is ahead (a step, a suspended machine), it steps too.
// Where the wall clock is behind, it is slewed: it runs at half speed until the two meet,
// and stands still, with an error, where they are more than maxBehind apart. It may
// repeat up to half a millisecond; the sequences take care of that.
type clock struct {
	read      func() time.Time // nil: the system's
	start     time.Time        // zero of the monotonic readings
	epoch     time.Time
	end       int64
	maxBehind int64

	// time = monotonic reading + offset, for a reading in [synced, synced+trust)
	offset, synced, trust atomic.Int64
	mu                    sync.Mutex // held by sync
}

// newClock starts a clock at the wall clock's time, or at from where that is later.
func newClock(read func() time.Time, epoch time.Time, end, maxBehind time.Duration) *clock {
	c := &clock{read: read, epoch: epoch, end: int64(end), maxBehind: int64(maxBehind)}
	c.start = c.time()
	c.offset.Store(c.wall(c.start))
	return c
}

func (c *clock) time() time.Time {
	if c.read != nil {
		return c.read()
	}
	return time.Now()
}

// wall strips the monotonic reading of t.
func (c *clock) wall(t time.Time) int64 { return int64(t.Round(0).Sub(c.epoch)) }

// now returns the monotonic reading and the time that ids carry.
func (c *clock) now() (mono, now int64, err error) {
	if c.read == nil {
		mono = int64(time.Since(c.start)) // the cheapest way to read the monotonic clock
	} else {
		mono = int64(c.read().Sub(c.start))
	}
	if uint64(mono-c.synced.Load()) >= uint64(c.trust.Load()) { // a reading before synced is huge
		return c.sync(0)
	}
	return mono, mono + c.offset.Load(), nil
}

// sync compares the two clocks, and moves the time of ids to at least from, unless that
// is too far ahead of the wall clock.
func (c *clock) sync(from int64) (mono, now int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	t := c.time()
	mono = int64(t.Sub(c.start))
	wall := c.wall(t)
	elapsed := max(mono-c.synced.Load(), 0)   // an injected clock may go back
	last := c.synced.Load() + c.offset.Load() // what the last comparison gave
	now = last + min(elapsed, c.trust.Load()) // the latest time that an id may carry
	trust := int64(0)
	switch behind := max(now, from) - wall; {
	case wall < 0 || wall >= c.end:
		err = fmt.Errorf("%w: %s is outside the layout, which holds %s to %s", ErrClock,
			t.UTC().Format(time.RFC3339), c.epoch.UTC().Format(time.DateOnly),
			c.epoch.Add(time.Duration(c.end)).UTC().Format(time.DateOnly))
	case behind <= 0:
		now, trust = wall, recheck
	case behind <= c.maxBehind:
		now, trust = max(last+min(elapsed, longestSlew)/2, from), recheckSlewing
	default:
		err = fmt.Errorf("%w: the clock went back, it is %s behind the ids of this node, which rides out %s", ErrClock,
			time.Duration(behind).Round(time.Millisecond), time.Duration(c.maxBehind))
	}
	c.offset.Store(now - mono)
	c.synced.Store(mono)
	c.trust.Store(trust)
	return mono, now, err
}
