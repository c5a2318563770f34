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
// While the engine holds an entry with a deadline, its key is in a wheel, once, at a time that is not after
// the deadline. A write that moves the deadline on leaves it where it is: the wheel finds the key early,
// and it is put right then.
type entry struct {
	object   driver.Object
	deadline int64
	wheel    uint32
	id       wheel.ID // 0 where there is no deadline
}

// ended reports whether the entry is over at the time now. It is gone from then on, though the engine may
// still hold it.
func (e entry) ended(now int64) bool { return e.deadline <= now }

// maxWheels bounds the memory that wheels take. Each has a lock of its own.
const maxWheels = 16

// expiry finds what has expired.
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

// follow returns e with a place in a wheel, which is that of the old entry under the key, if any. It is
// called under the engine's lock of the key, as is all that uses an id.
func (x *expiry) follow(key string, at uint32, e, old entry) entry {
	switch {
	case e.deadline == never:
		x.leave(old)
		return e
	case old.id == 0:
		e.wheel = at
		var begins int64
		e.id, begins = x.wheels[at].Add(key, e.deadline)
		x.expect(begins)
		return e
	}
	e.wheel, e.id = old.wheel, old.id
	if e.deadline < old.deadline {
		x.move(e)
	}
	return e
}

// move puts the entry's key where it belongs. One without a deadline, or none, is in no wheel.
func (x *expiry) move(e entry) {
	if e.id != 0 {
		x.expect(x.wheels[e.wheel].Move(e.id, e.deadline))
	}
}

// leave takes the entry's key out.
func (x *expiry) leave(e entry) {
	if e.id != 0 {
		x.wheels[e.wheel].Remove(e.id)
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
	if !ok || e.Value.ended(s.clock.seen()) || s.hides(key) {
		return 0, false, s.err()
	}
	if e.Value.deadline == never {
		return 0, true, nil
	}
	return max(time.Duration(e.Value.deadline-s.clock.exact()), 1), true, nil
}
