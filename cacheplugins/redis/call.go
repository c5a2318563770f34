package redis

import (
	"context"
	"sync/atomic"
	"time"
)

// maxCalls bounds the calls that can be cancelled at the same time; further ones end at
// their deadlines. It is a power of 2.
const maxCalls = 1 << 12

// calls are the calls in flight. A connection finds here the call that it serves, to end
// it when its context is cancelled (TestACallEndsWhenItIsCancelled): go-redis passes a
// connection the deadline of the context and nothing else. So each call has a deadline of
// its own, and its last digits are the number of its slot.
//
// The plain way, a goroutine for each call, costs three allocations more, which
// TestATypedCallAllocatesLittle does not allow, and twice the time: see the benchmarks
// "get" and "get in a goroutine" of BenchmarkTyped. It also occupies a connection of the
// pool for each cancelled call.
type calls struct {
	last  atomic.Uint32
	slots [maxCalls]atomic.Pointer[call]
}

// call is the context of one call: the caller's, with the deadline that also names it.
type call struct {
	context.Context
	name     int64                 // the deadline, in nanoseconds since 1970
	patience time.Time             // until then connections need not look whether it is cancelled
	slot     *atomic.Pointer[call] // nil where the call has none
}

// Deadline implements context.Context.
func (c *call) Deadline() (time.Time, bool) { return c.deadline(), true }

func (c *call) deadline() time.Time { return time.Unix(0, c.name) }

// begin makes c the call of ctx. end must follow.
func (all *calls) begin(ctx context.Context, c *call) {
	now, left := time.Now(), callTimeout
	own, bounded := ctx.Deadline()
	if bounded {
		// by the monotonic clock, as ctx itself; and own may be beyond what nanoseconds
		// hold
		left = min(left, time.Until(own))
	}
	c.Context, c.name = ctx, now.Add(left).UnixNano()
	if ctx.Done() == nil {
		return
	}
	c.patience = now.Add(patience)
	const tries = 8
	for range tries {
		n := all.last.Add(1) % maxCalls
		c.name = c.name&^(maxCalls-1) | int64(n)
		if bounded && c.deadline().Equal(own) {
			continue // a call of somebody else under the same context would have the same name
		}
		if slot := &all.slots[n]; slot.CompareAndSwap(nil, c) {
			c.slot = slot
			return
		}
	}
}

// end frees the slot.
func (c *call) end() {
	if c.slot != nil {
		c.slot.Store(nil)
	}
}

// find returns the call with a deadline, or nil.
func (all *calls) find(deadline time.Time) *call {
	name := deadline.UnixNano()
	if c := all.slots[name&(maxCalls-1)].Load(); c != nil && c.name == name {
		return c
	}
	return nil
}
