package plinthtest

import (
	"sync/atomic"
	"time"
)

// Clock is a clock that runs with the system clock and can be moved. The zero value has
// the system time. It is safe for concurrent use.
type Clock struct{ offset atomic.Int64 }

// Now returns the clock's time, without a monotonic reading.
func (c *Clock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()))
}

// Advance moves the clock by d, backwards if d is negative.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(int64(d)) }

// Set moves the clock to t. The clock continues to run.
func (c *Clock) Set(t time.Time) { c.offset.Store(int64(t.Sub(time.Now().Round(0)))) }
