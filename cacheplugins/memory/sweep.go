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
	minRest = 10 * time.Millisecond
	// minFactor and maxFactor are how many times longer than a walk the sweeper rests
	// after it.
	minFactor, maxFactor = 4, 50
	// share is the part of all entries, 1/share, that may expire before the next walk:
	// they take the room of others.
	share = 64
)

// now returns the time in nanoseconds since any time.
func (s *store) now() int64 {
	if s.given != nil {
		return s.given().UnixNano()
	}
	return int64(time.Since(s.start))
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

// expect notes that an entry with the deadline is in the table, and wakes the sweeper if
// it would sleep longer.
func (s *store) expect(deadline int64) {
	for next := s.next.Load(); deadline < next; next = s.next.Load() {
		if s.next.CompareAndSwap(next, deadline) {
			select {
			case s.wake <- struct{}{}:
			default: // it has been woken, and has not looked yet
			}
			return
		}
	}
}

// sweep removes what has expired, until the store is closed. An expired entry is missing
// from its deadline on, so only its memory and its room wait for that. The sweeper sleeps
// until an entry expires, and spends about 2 % of its time on walks through the table, or
// up to 20 % if many entries expire.
//
// The engine's own expiry removes everything in one go under its lock: BenchmarkMillion
// shows how long the longest write waits for it (expire-bare), and for the sweeper
// (expire).
func (s *store) sweep() {
	timer := time.NewTimer(never)
	defer timer.Stop()
	rested, factor := int64(0), maxFactor
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		case <-timer.C:
		}
		if now := s.now(); now >= max(s.next.Load(), rested) {
			removed := s.removeExpired()
			factor = min(max(factor*(s.max/share)/(removed+1), minFactor), maxFactor)
			end := s.now()
			rested = end + max(int64(minRest), int64(factor)*(end-now))
		}
		timer.Reset(time.Duration(max(s.next.Load(), rested) - s.now()))
	}
}

// removeExpired walks through the table. Every few removals it lets the engine catch up,
// because writers wait if the engine's buffer is full.
func (s *store) removeExpired() (removed int) {
	s.next.Store(never) // the walk and concurrent writes lower it
	now := s.now()
	remove := func(e entry) (entry, otter.ComputeOp) {
		if e.Deadline <= now {
			return e, otter.InvalidateOp
		}
		return e, otter.CancelOp // written since
	}
	for key, e := range s.engine.All() {
		if s.closed.Load() {
			break
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
	return removed
}
