package memory

import (
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

// resolution is how far the engine's clock is behind: reading the exact time would be a large part of a
// read.
const resolution = 10 * time.Millisecond

// clock is the time in nanoseconds, for the engine and exactly.
type clock struct {
	engine otter.Clock
	exact  func() int64
	stop   func()
}

// newClock returns the real time, or that of now.
func newClock(now func() time.Time) clock {
	if now != nil {
		c := givenClock{now: now}
		return clock{engine: c, exact: c.NowNano, stop: func() {}}
	}
	start := time.Now()
	coarse := otter.NewCoarseClock(resolution)
	offset := coarse.NowNano()
	return clock{
		engine: coarse,
		exact:  func() int64 { return offset + int64(time.Since(start)) },
		stop:   coarse.Stop,
	}
}

// givenClock is an otter.Clock made of a function.
type givenClock struct{ now func() time.Time }

// NowNano implements otter.Clock.
func (c givenClock) NowNano() int64 { return c.now().UnixNano() }

// Tick implements otter.Clock. The given time does not tick: what has expired is not seen, and leaves with
// the next maintenance.
func (givenClock) Tick(time.Duration) <-chan time.Time { return nil }

// tasks are the engine's maintenance tasks, each a goroutine of its own that Close waits for.
type tasks struct {
	mu     sync.RWMutex
	closed bool
	group  sync.WaitGroup
}

// run is the engine's executor.
func (t *tasks) run(task func()) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return
	}
	t.group.Go(task)
}

// wait ends all tasks, and those to come.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.group.Wait()
}
