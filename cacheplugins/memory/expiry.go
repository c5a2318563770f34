package memory

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory/internal/wheel"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// never is the deadline of an entry without one.
const never = wheel.Never

// entry is what the engine holds under a key. It never changes; a write puts another in its place.
//
// While the engine holds an entry with a deadline, its key is in a wheel, once, at a time that is
// not after the deadline. A write that moves the deadline to a later time leaves it there: the
// wheel finds the key early, and the sweeper moves it. Slot names the wheel and the ID in it; it is
// 0 if there is no deadline.
type entry = *driver.Entry

// ended reports whether the entry has expired at the time now. It is missing from then on, also if
// the engine still holds it.
func ended(e entry, now int64) bool { return e.Deadline <= now }

func slot(at uint32, id wheel.ID) uint64 { return uint64(at)<<32 | uint64(id) }

func (x *expiry) wheelOf(e entry) (*wheel.Wheel, wheel.ID) {
	return x.wheels[e.Slot>>32], wheel.ID(e.Slot) // the lower half
}

// maxWheels bounds the memory that wheels take. Each has a lock of its own.
const maxWheels = 16

// expiry finds what has expired, in small steps. The engine's own expiry removes everything in one
// go under its lock: while a million entries expired, the longest write of BenchmarkMillion waited
// 2.4 s for it (expire-bare), and 0.1 s here (expire), on two processors with other load.
type expiry struct {
	wheels []*wheel.Wheel
	// asleep is the time until which the sweeper sleeps. It wakes up before for what needs it earlier.
	asleep  atomic.Int64
	earlier chan struct{}
}

// newExpiry returns an expiry whose sweeper is awake.
func newExpiry(shards int, now func() int64) *expiry {
	x := &expiry{wheels: make([]*wheel.Wheel, min(shards, maxWheels)), earlier: make(chan struct{}, 1)}
	for i := range x.wheels {
		x.wheels[i] = wheel.New(now)
	}
	x.asleep.Store(math.MinInt64)
	return x
}

// follow gives e a place in a wheel, which is that of the old entry under the key, if any. It is
// called under the engine's lock of the key, as is all that uses an id.
func (x *expiry) follow(key string, at uint32, e, old entry) {
	switch {
	case e.Deadline == never:
		x.leave(old)
	case old == nil || old.Slot == 0:
		id, begins := x.wheels[at].Add(key, e.Deadline)
		e.Slot = slot(at, id)
		x.expect(begins)
	default:
		e.Slot = old.Slot
		if e.Deadline < old.Deadline {
			x.move(e)
		}
	}
}

// move puts the entry's key where it belongs. One without a deadline, or none, is in no wheel.
func (x *expiry) move(e entry) {
	if e != nil && e.Slot != 0 {
		w, id := x.wheelOf(e)
		x.expect(w.Move(id, e.Deadline))
	}
}

// leave takes the entry's key out.
func (x *expiry) leave(e entry) {
	if e != nil && e.Slot != 0 {
		w, id := x.wheelOf(e)
		w.Remove(id)
	}
}

// forget is told by the engine that it lets go of an entry.
func (x *expiry) forget(e otter.DeletionEvent[string, entry]) {
	if e.Cause != otter.CauseReplacement { // else the new entry has its place
		x.leave(e.Value)
	}
}

// expect wakes the sweeper up where it sleeps longer than until at.
func (x *expiry) expect(at int64) {
	if at < x.asleep.Load() {
		select {
		case x.earlier <- struct{}{}:
		default: // it has been told, and has not looked yet
		}
	}
}

// next returns a time before which nothing expires of what there is.
func (x *expiry) next() int64 {
	at := int64(never)
	for _, w := range x.wheels {
		at = min(at, w.Next())
	}
	return at
}

// deadline returns when an entry ends that is given the ttl now.
func (s *store) deadline(ttl time.Duration) int64 {
	if ttl == 0 {
		return never
	}
	now := s.clock.exact()
	if int64(ttl) >= never-max(now, 0) {
		return never
	}
	return now + int64(ttl)
}

// TTL implements driver.Keys.
func (s *store) TTL(_ context.Context, key string) (time.Duration, bool, error) {
	e, ok := s.engine.GetEntryQuietly(key)
	if !ok || ended(e.Value, s.clock.seen()) || s.hides(key) {
		return 0, false, s.err()
	}
	if e.Value.Deadline == never {
		return 0, true, nil
	}
	return max(time.Duration(e.Value.Deadline-s.clock.exact()), 1), true, nil
}
