package memory

import (
	"math"
	"runtime"
	"time"

	"github.com/maypok86/otter/v2"
)

// never is the deadline of an entry without a TTL.
const never = math.MaxInt64

const (
	// sweepBatch is the number of entries to remove before other goroutines may run.
	sweepBatch = 16
	// minPause is the minimum time between two sweeps.
	minPause = 10 * time.Millisecond
	// minFactor and maxFactor limit the pause after a sweep, as multiples of its
	// duration.
	minFactor, maxFactor = 4, 50
	// expiredShare is the inverse of the fraction of entries that should expire between
	// two sweeps. Expired entries occupy the space of other entries.
	expiredShare = 64
)

// now returns the time in nanoseconds since an arbitrary origin.
func (s *store) now() int64 {
	if s.clock != nil {
		return s.clock().UnixNano()
	}
	return int64(time.Since(s.start))
}

// deadline returns the deadline of an entry that is written now with the TTL.
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

// addDeadline records that an entry with the deadline is in the table, and wakes the
// sweeper if it would sleep longer.
func (s *store) addDeadline(deadline int64) {
	for next := s.next.Load(); deadline < next; next = s.next.Load() {
		if s.next.CompareAndSwap(next, deadline) {
			select {
			case s.wake <- struct{}{}:
			default: // already woken
			}
			return
		}
	}
}

// sweep removes expired entries until the store is closed. Expired entries are invisible
// from their deadline on, so this affects only memory and capacity. The sweeper sleeps
// until an entry expires. It spends about 2 % of its time sweeping, or up to 20 % if many
// entries expire.
//
// The engine's own expiry removes all expired entries at once under its lock.
// BenchmarkMillion measures the longest wait of a write with it (expire-bare) and with
// the sweeper (expire).
func (s *store) sweep() {
	timer := time.NewTimer(never)
	defer timer.Stop()
	pauseEnd, factor := int64(0), maxFactor
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		case <-timer.C:
		}
		if now := s.now(); now >= max(s.next.Load(), pauseEnd) {
			removed := s.removeExpired()
			factor = min(max(factor*(s.max/expiredShare)/(removed+1), minFactor), maxFactor)
			end := s.now()
			pauseEnd = end + max(int64(minPause), int64(factor)*(end-now))
		}
		timer.Reset(time.Duration(max(s.next.Load(), pauseEnd) - s.now()))
	}
}

// removeExpired sweeps the table. It regularly waits for the engine, because writers
// block when the engine's buffer is full.
func (s *store) removeExpired() (removed int) {
	s.next.Store(never) // the sweep and concurrent writes lower it
	now := s.now()
	remove := func(e entry) (entry, otter.ComputeOp) {
		if e.Deadline <= now {
			return e, otter.InvalidateOp
		}
		return e, otter.CancelOp // rewritten in the meantime
	}
	for key, e := range s.engine.All() {
		if s.closed.Load() {
			break
		}
		if e.Deadline > now {
			s.addDeadline(e.Deadline)
			continue
		}
		s.engine.ComputeIfPresent(key, remove)
		if removed++; removed%sweepBatch == 0 {
			s.engine.CleanUp()
			runtime.Gosched()
		}
	}
	s.engine.CleanUp()
	return removed
}
