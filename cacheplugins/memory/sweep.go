package memory

import (
	"math"
	"runtime"
	"time"

	"github.com/maypok86/otter/v2"
)

// never is the deadline of an entry without one.
const never = math.MaxInt64

const (
	// slice is how many entries are removed before other goroutines may run.
	slice = 16
	// minRest is the shortest time between two walks of the sweeper.
	minRest = 100 * time.Millisecond
	// restFactor is how many times longer than a walk the sweeper rests after it.
	restFactor = 50
	// slack is how late the sweeper may wake up before an expired entry could be seen.
	slack = time.Second
)

// newClock returns the time in nanoseconds: that of given, or the real one.
func newClock(given func() time.Time) func() int64 {
	if given != nil {
		return func() int64 { return given().UnixNano() }
	}
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}

// deadline returns when an entry ends that is given the TTL now.
func (s *store) deadline(ttl time.Duration) int64 {
	if ttl == 0 {
		return never
	}
	now := s.now()
	if int64(ttl) >= never-max(now, 0) {
		return never
	}
	return now + int64(ttl)
}

// expect notes that an entry with the deadline is in the table, and wakes the sweeper if it would
// sleep longer.
func (s *store) expect(deadline int64) {
	for next := s.next.Load(); deadline < next; next = s.next.Load() {
		if !s.next.CompareAndSwap(next, deadline) {
			continue
		}
		select {
		case s.wake <- struct{}{}:
		default: // it has been woken, and has not looked yet
		}
		return
	}
}

// sweep removes what has expired, until the store is closed. It sleeps until an entry expires, and
// spends about 2 % of its time on walks through the table: an expired entry is missing from its
// deadline on, so only its memory waits.
//
// The engine's own expiry removes everything in one go under its lock: BenchmarkMillion shows how
// long the longest write waits for it (expire-bare), and for the sweeper (expire).
func (s *store) sweep() {
	timer := time.NewTimer(never)
	defer timer.Stop()
	rested := int64(math.MinInt64)
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		case <-timer.C:
		}
		s.horizon.Store(never)
		if now := s.now(); now >= max(s.next.Load(), rested) {
			s.removeExpired()
			end := s.now()
			rested = end + max(int64(minRest), restFactor*(end-now))
		}
		until := max(s.next.Load(), rested)
		s.horizon.Store(min(until, never-1-int64(slack)) + int64(slack))
		timer.Reset(time.Duration(until - s.now()))
	}
}

// removeExpired walks through the table. Every few removals it lets the engine catch up, because
// writers wait if the engine's buffer is full.
func (s *store) removeExpired() {
	s.next.Store(never) // the walk and concurrent writes lower it
	now, removed := s.now(), 0
	remove := func(e entry) (entry, otter.ComputeOp) {
		if e.Deadline <= now {
			return e, otter.InvalidateOp
		}
		return e, otter.CancelOp // written since
	}
	for key, e := range s.engine.All() {
		if s.closed.Load() {
			return
		}
		if e.Deadline > now {
			s.expect(e.Deadline)
			continue
		}
		s.engine.ComputeIfPresent(key, remove)
		if removed++; removed%slice == 0 {
			s.engine.CleanUp()
			runtime.Gosched()
		}
	}
	s.engine.CleanUp()
}
