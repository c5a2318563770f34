package plinthtest

import (
	"sync/atomic"
	"time"
)

// Clock is a clock that goes with the real one and can be moved. The zero value shows the
// real time. It is safe for concurrent use.
type Clock struct{ offset atomic.Int64 }

// Now returns the clock's time. It has no monotonic reading.
func (c *Clock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()))
}

// Advance moves the clock by d, backwards where d is negative.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(int64(d)) }

// Set moves the clock to t, from where it goes on.
func (c *Clock) Set(t time.Time) { c.offset.Store(int64(t.Sub(time.Now().Round(0)))) }
