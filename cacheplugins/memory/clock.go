package memory

import (
	"sync/atomic"
	"time"
)

// resolution is how far the time that readers see is behind at most for what is about to end, but for what the
// machine adds: reading the exact time would be a large part of a read. While nothing is, that time stands still.
const resolution = 5 * time.Millisecond

// clock is the time in nanoseconds. What has expired is decided by the time that is seen everywhere, so
// that no two callers differ; deadlines are counted from the exact one, which is never behind it.
type clock struct {
	given  func() time.Time
	start  time.Time
	coarse atomic.Int64
}

// newClock returns the real time, or that of given.
func newClock(given func() time.Time) *clock { return &clock{given: given, start: time.Now()} }

// seen returns the time that has been told last, or the given time.
func (c *clock) seen() int64 {
	if c.given != nil {
		return c.given().UnixNano()
	}
	return c.coarse.Load()
}

// exact returns the time.
func (c *clock) exact() int64 {
	if c.given != nil {
		return c.given().UnixNano()
	}
	return int64(time.Since(c.start))
}

// tell lets everyone see the exact time. Only one goroutine calls it.
func (c *clock) tell() {
	if c.given == nil {
		c.coarse.Store(c.exact())
	}
}
