package memory

import (
	"math"
	"runtime"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory/internal/wheel"
)

const (
	// slice is how many entries are removed in one go.
	slice = 16
	// burst is how many slices come without letting others run, who may then run for long.
	burst = 4
	// searches is how often a writer that needs room looks for something to remove. Each wheel may say once that it
	// has something due when all of that is gone, and then be looked at for what it has.
	searches = 2 * maxWheels
)

// sweep tells the time and removes what has expired, a slice after the other, until the store is closed.
// It sleeps while there is nothing to come.
func (s *store) sweep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.expiry.earlier:
		case <-timer.C:
		}
		s.expiry.asleep.Store(math.MinInt64)
		s.clock.tell()
		for s.sweepSlices() {
			s.clock.tell()
		}
		timer.Reset(s.rest())
	}
}

// sweepSlices removes a slice from each wheel that has something due, and reports whether any had.
func (s *store) sweepSlices() (found bool) {
	for i, w := range s.expiry.wheels {
		if s.closed.Load() {
			return false
		}
		if i%burst == 0 {
			runtime.Gosched()
		}
		if w.Next() > s.clock.seen() {
			continue
		}
		found = true
		s.sweepSlice(w)
	}
	return found
}

// sweepSlice removes under a lock that a writer who needs room takes alone: the engine's bookkeeping then
// has the removal before the writer's key. Before, it makes room in the engine's buffer, since who finds
// that full waits.
func (s *store) sweepSlice(w *wheel.Wheel) {
	s.engine.CleanUp()
	s.room.RLock()
	defer s.room.RUnlock()
	s.removeDue(w)
}

// sweepGiven removes a slice of what the given time has ended.
func (s *store) sweepGiven() {
	s.room.RLock()
	defer s.room.RUnlock()
	s.reclaim()
}

// rest returns how long the sweeper may sleep. Who adds something later than this sees until when.
func (s *store) rest() time.Duration {
	now := s.clock.exact()
	for at := s.expiry.next(); ; {
		until := max(at, now+int64(resolution))
		s.expiry.asleep.Store(until - int64(resolution)) // what ends after that is seen in time
		again := s.expiry.next()
		if again >= at {
			return time.Duration(until - now)
		}
		at = again
	}
}

// reclaim removes something that has expired, if that is quickly found, and reports whether it did.
func (s *store) reclaim() bool {
	now := s.clock.seen()
	for range searches {
		i := 0
		for i < len(s.expiry.wheels) && s.expiry.wheels[i].Next() > now {
			i++
		}
		if i == len(s.expiry.wheels) {
			return false
		}
		if s.removeDue(s.expiry.wheels[i]) > 0 {
			return true
		}
	}
	return false
}

// removeDue removes some of what a wheel says has expired. What has been written anew since then stays. It waits for
// a write that has put its key in the wheel already and not yet in the engine, where ComputeIfPresent would miss it.
func (s *store) removeDue(w *wheel.Wheel) (removed int) {
	var keys [slice]string
	n := w.Due(keys[:])
	now := s.clock.seen()
	end := func(e entry, found bool) (entry, otter.ComputeOp) {
		if found && ended(e, now) {
			removed++
			return e, otter.InvalidateOp
		}
		s.expiry.move(e)
		return e, otter.CancelOp
	}
	for _, key := range keys[:n] {
		s.engine.Compute(key, end)
	}
	return removed
}
