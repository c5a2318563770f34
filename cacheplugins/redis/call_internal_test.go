package redis

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestACallUnderAFarDeadlineIsBoundedAllTheSame(t *testing.T) {
	for name, end := range map[string]time.Time{
		"the longest timeout": time.Now().Add(math.MaxInt64),
		"the year 9999":       time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		"an hour":             time.Now().Add(time.Hour),
	} {
		ctx, cancel := context.WithDeadline(t.Context(), end)
		var all calls
		var c call
		all.begin(ctx, &c)
		if left := time.Until(c.deadline()); left < callTimeout-time.Second || left > callTimeout {
			t.Errorf("%s: the call has %s, want about %s", name, left, callTimeout)
		}
		c.end()
		cancel()
	}
}

// What an application sends through the client under the same context has that context's deadline, and must not be taken for
// a call of the store.
func TestACallIsNeverNamedByTheDeadlineOfItsContext(t *testing.T) {
	const slot = 7
	end := time.Now().Add(time.Second).UnixNano()&^(maxCalls-1) | slot
	for range 100 {
		own := time.Unix(0, end)
		ctx, cancel := context.WithDeadline(t.Context(), own)
		var all calls
		all.last.Store(slot - 1)
		var c call
		all.begin(ctx, &c)
		if all.find(own) != nil {
			t.Error("a call is found by the deadline of its context")
		}
		if all.find(c.deadline()) != &c {
			t.Error("a call is not found by its own deadline")
		}
		c.end()
		cancel()
	}
}
