package redis

import (
	"context"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"
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

// What an application sends through the client under the same context has that context's
// deadline, and must not be taken for a call of the store.
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

// until is a context with a deadline of any kind.
type until struct {
	context.Context
	at time.Time
}

// Deadline implements context.Context.
func (u until) Deadline() (time.Time, bool) { return u.at, true }

// beforeAStep is a time as it was taken before the wall clock went two hours ahead: only
// its monotonic reading is still right.
func beforeAStep(tb testing.TB, in time.Duration) time.Time {
	tb.Helper()
	at := time.Now().Add(in)
	// the seconds of the wall clock are above 30 bits
	*(*uint64)(unsafe.Pointer(&at)) -= 2 * 3600 << 30
	if left := time.Until(at); left < in-time.Second || left > in ||
		time.Until(at.Round(0)) > in-time.Hour {
		tb.Skip("package time keeps its readings in another way")
	}
	return at
}

func TestACallOutlivesAStepOfTheWallClock(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		2 * time.Second: 2 * time.Second,
		time.Hour:       callTimeout,
	} {
		parent, stop := context.WithCancel(t.Context())
		s, c := &store{calls: &calls{}, options: &redis.UniversalOptions{IsClusterMode: true}},
			&call{}
		ctx, cancel := s.begin(until{parent, beforeAStep(t, in)}, c)
		at, _ := ctx.Deadline()
		if left := time.Until(at); left < want-time.Second || left > want+clockSlack {
			t.Errorf("a call of a context with %s has %s, want %s", in, left, want)
		}
		if bounded := ctx != context.Context(c); bounded != (in > callTimeout) {
			t.Errorf("a call of a context with %s ends between servers = %t", in, bounded)
		}
		cancel()
		c.end()
		stop()
	}
}
