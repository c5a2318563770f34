package redis

import (
	"context"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"
)

func TestCalls_Start(t *testing.T) {
	t.Run("limits a far deadline", func(t *testing.T) {
		for name, end := range map[string]time.Time{
			"the longest timeout": time.Now().Add(math.MaxInt64),
			"the year 9999":       time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
			"an hour":             time.Now().Add(time.Hour),
		} {
			ctx, cancel := context.WithDeadline(t.Context(), end)
			var all calls
			var c call
			all.start(ctx, &c)
			if left := time.Until(c.deadline()); left < callTimeout-time.Second ||
				left > callTimeout {
				t.Errorf("%s: timeout = %s, want about %s", name, left, callTimeout)
			}
			c.end()
			cancel()
		}
	})

	// A command of the application with the same context has the same deadline and must
	// not be mistaken for a call of the store.
	t.Run("differs from the deadline of the context", func(t *testing.T) {
		const slot = 7
		end := time.Now().Add(time.Second).UnixNano()&^(maxCalls-1) | slot
		for range 100 {
			deadline := time.Unix(0, end)
			ctx, cancel := context.WithDeadline(t.Context(), deadline)
			var all calls
			all.last.Store(slot - 1)
			var c call
			all.start(ctx, &c)
			if all.find(deadline) != nil {
				t.Error("find returned a call for the deadline of its context")
			}
			if all.find(c.deadline()) != &c {
				t.Error("find did not return a call for its own deadline")
			}
			c.end()
			cancel()
		}
	})

	t.Run("uses the monotonic clock", func(t *testing.T) {
		for in, want := range map[time.Duration]time.Duration{
			2 * time.Second: 2 * time.Second,
			time.Hour:       callTimeout,
		} {
			parent, stop := context.WithCancel(t.Context())
			s := &store{calls: &calls{}, options: &redis.UniversalOptions{IsClusterMode: true}}
			c := &call{}
			ctx, cancel := s.start(until{parent, beforeStep(t, in)}, c)
			at, _ := ctx.Deadline()
			if left := time.Until(at); left < want-time.Second || left > want+clockSlack {
				t.Errorf("context with %s: timeout = %s, want %s", in, left, want)
			}
			if bounded := ctx != context.Context(c); bounded != (in > callTimeout) {
				t.Errorf("context with %s: bounded = %t", in, bounded)
			}
			cancel()
			c.end()
			stop()
		}
	})
}

// until is a context with an arbitrary deadline.
type until struct {
	context.Context
	at time.Time
}

// Deadline implements context.Context.
func (u until) Deadline() (time.Time, bool) { return u.at, true }

// beforeStep returns the time after the duration in, with a wall clock that is two hours
// behind: only its monotonic reading is valid.
func beforeStep(tb testing.TB, in time.Duration) time.Time {
	tb.Helper()
	at := time.Now().Add(in)
	// the wall seconds are above 30 bits
	*(*uint64)(unsafe.Pointer(&at)) -= 2 * 3600 << 30
	if left := time.Until(at); left < in-time.Second || left > in ||
		time.Until(at.Round(0)) > in-time.Hour {
		tb.Skip("the representation of time.Time has changed")
	}
	return at
}
