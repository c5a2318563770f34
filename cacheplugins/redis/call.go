package redis

import (
	"context"
	"sync/atomic"
	"time"
)

// maxCalls is the maximum number of cancelable calls. Further calls return at their
// deadlines only. It is a power of 2.
const maxCalls = 1 << 12

// calls tracks in-flight calls, so that a connection can find its call and abort it when
// the context is canceled (TestCall_Cancellation). go-redis passes only the deadline of
// the context to a connection. Therefore each call has a unique deadline whose low bits
// are the index of its slot.
//
// A goroutine for each call would be simpler but needs three more allocations, which
// TestTypedCall_Allocations does not permit, and twice the time: compare the benchmarks
// "get" and "get in a goroutine" of BenchmarkTyped. It would also occupy a pooled
// connection for each canceled call.
type calls struct {
	last  atomic.Uint32
	slots [maxCalls]atomic.Pointer[call]
}

// call is the context of one call: the caller's context with a deadline that also
// identifies the call.
type call struct {
	context.Context
	id          int64                 // the deadline in nanoseconds since 1970
	cancelAfter time.Time             // before this time connections do not watch for cancellation
	slot        *atomic.Pointer[call] // nil if the call cannot be canceled
}

// Deadline implements context.Context.
func (c *call) Deadline() (time.Time, bool) { return c.deadline(), true }

func (c *call) deadline() time.Time { return time.Unix(0, c.id) }

// start initializes c as the call of ctx. The caller must call end.
func (all *calls) start(ctx context.Context, c *call) {
	now, timeout := time.Now(), callTimeout
	ctxDeadline, hasDeadline := ctx.Deadline()
	if hasDeadline {
		// Use the monotonic clock like ctx. The deadline may also overflow UnixNano.
		timeout = min(timeout, time.Until(ctxDeadline))
	}
	c.Context, c.id = ctx, now.Add(timeout).UnixNano()
	if ctx.Done() == nil {
		return
	}
	c.cancelAfter = now.Add(cancelDelay)
	const tries = 8
	for range tries {
		n := all.last.Add(1) % maxCalls
		c.id = c.id&^(maxCalls-1) | int64(n)
		if hasDeadline && c.deadline().Equal(ctxDeadline) {
			continue // another command with the same context would have the same deadline
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

// find returns the call with the deadline, or nil.
func (all *calls) find(deadline time.Time) *call {
	id := deadline.UnixNano()
	if c := all.slots[id&(maxCalls-1)].Load(); c != nil && c.id == id {
		return c
	}
	return nil
}
