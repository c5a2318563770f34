package xsnowflake

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClock means that the clock is unusable. The wall clock is too far behind the ids of
// the node, shows a time outside the layout, or did not advance in time. The first
// condition ends when the wall clock catches up.
var ErrClock = errors.New("xsnowflake: the clock is unusable")

// Intervals after which the wall clock is compared again, in nanoseconds of the monotonic
// clock.
const (
	recheck        = int64(time.Millisecond)
	recheckSlewing = recheck / 8
)

// longestSlew limits the elapsed time that is slewed. A longer idle time need not be
// slewed.
const longestSlew = 10 * recheck

// clock provides the time of ids, in nanoseconds since the epoch of the layout.
//
// The clock advances with the monotonic clock and is compared with the wall clock once
// per millisecond. If the wall clock is ahead, after a step or a suspension of the
// machine, the clock steps forward. If the wall clock is behind, the clock is slewed: it
// runs at half speed until both are equal. If they differ by more than maxBehind, the
// clock stops and returns an error. The clock may go back by up to half a millisecond,
// which the sequences tolerate.
type clock struct {
	read      func() time.Time // nil for the system clock
	start     time.Time        // zero of the monotonic readings
	epoch     time.Time
	end       int64
	maxBehind int64

	// time = monotonic reading + offset, for a reading in [synced, synced+trust)
	offset, synced, trust atomic.Int64
	mu                    sync.Mutex // held by sync
}

// newClock returns a clock that starts at the wall clock time.
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

// wall returns the wall clock time of t, without its monotonic reading.
func (c *clock) wall(t time.Time) int64 { return int64(t.Round(0).Sub(c.epoch)) }

// now returns the monotonic reading and the time for ids.
func (c *clock) now() (mono, now int64, err error) {
	if c.read == nil {
		mono = int64(time.Since(c.start)) // the fastest way to read the monotonic clock
	} else {
		mono = int64(c.read().Sub(c.start))
	}
	// a reading before synced becomes a huge number
	if uint64(mono-c.synced.Load()) >= uint64(c.trust.Load()) {
		return c.sync(0)
	}
	return mono, mono + c.offset.Load(), nil
}

// sync compares the two clocks. It moves the time for ids to at least from, unless that
// is too far ahead of the wall clock.
func (c *clock) sync(from int64) (mono, now int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	t := c.time()
	mono = int64(t.Sub(c.start))
	wall := c.wall(t)
	elapsed := max(mono-c.synced.Load(), 0)   // an injected clock may go back
	last := c.synced.Load() + c.offset.Load() // the result of the last comparison
	now = last + min(elapsed, c.trust.Load()) // the latest possible time of an id
	trust := int64(0)
	switch behind := max(now, from) - wall; {
	case wall < 0 || wall >= c.end:
		err = fmt.Errorf("%w: %s is outside the layout (accepted: %s to %s)", ErrClock,
			t.UTC().Format(time.RFC3339), c.epoch.UTC().Format(time.DateOnly),
			c.epoch.Add(time.Duration(c.end)).UTC().Format(time.DateOnly))
	case behind <= 0:
		now, trust = wall, recheck
	case behind <= c.maxBehind:
		now, trust = max(last+min(elapsed, longestSlew)/2, from), recheckSlewing
	default:
		err = fmt.Errorf(
			"%w: the clock went back: it is %s behind the ids of this node (accepted: up to %s)",
			ErrClock, time.Duration(behind).Round(time.Millisecond), time.Duration(c.maxBehind))
	}
	c.offset.Store(now - mono)
	c.synced.Store(mono)
	c.trust.Store(trust)
	return mono, now, err
}
