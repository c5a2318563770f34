package notifytest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
)

// failureChecks are about receivers that refuse.
var failureChecks = []check{
	{"Failure/Temporary", func(t *testing.T, e *env) {
		e.receiver.Answer(FailTemporarily)
		if err := e.fails(t, t.Context(), e.message(1)); errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, which is an ErrPermanent: nobody would try again", err)
		}
		e.arrivals(t, 0)
	}},
	{"Failure/Permanent", func(t *testing.T, e *env) {
		e.receiver.Answer(FailPermanently)
		if err := e.fails(t, t.Context(), e.message(1)); !errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, want an ErrPermanent", err)
		}
		e.arrivals(t, 0)
	}},
	{"Failure/TheNextSucceeds", func(t *testing.T, e *env) {
		for _, mode := range []Mode{FailTemporarily, FailPermanently} {
			e.receiver.Answer(mode)
			_ = e.fails(t, t.Context(), e.message(1))
		}
		e.receiver.Answer(Accept)
		e.send(t, e.message(2))
		e.arrivals(t, 1)
	}},
	{"Failure/ShowsNoRecipient", func(t *testing.T, e *env) {
		for _, mode := range []Mode{FailTemporarily, FailPermanently} {
			e.receiver.Answer(mode)
			m := e.message(1)
			if err := e.fails(t, t.Context(), m); shows(err.Error(), m) {
				t.Errorf("the error shows a recipient or a content: %v", err)
			}
		}
	}},
}

// contextChecks are about contexts that end.
var contextChecks = []check{
	{"Context/EndedBefore", func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.ends(t, ctx, context.Canceled)
		e.arrivals(t, 0)
	}},
	{"Context/Deadline", func(t *testing.T, e *env) {
		e.receiver.Answer(Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.ends(t, ctx, context.DeadlineExceeded)
	}},
	{"Context/Canceled", func(t *testing.T, e *env) {
		e.receiver.Answer(Hang)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
		e.ends(t, ctx, context.Canceled)
	}},
	{"Context/TheNextSucceeds", func(t *testing.T, e *env) {
		e.receiver.Answer(Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.ends(t, ctx, context.DeadlineExceeded)
		e.receiver.Answer(Accept)
		before := len(e.receiver.Arrived())
		e.send(t, e.message(2))
		if got := len(e.receiver.Arrived()); got != before+1 {
			t.Errorf("%d messages have arrived after the next one, want %d", got, before+1)
		}
	}},
}

// closeChecks are about a sender with a method Close. One without has nothing to close.
var closeChecks = []check{
	{"Close/TwiceAndNothingAfter", func(t *testing.T, e *env) {
		closing := e.closer(t)
		e.send(t, e.message(1))
		for range 2 {
			if err := closing(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if err := e.fails(t, t.Context(), e.message(2)); errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, which is an ErrPermanent: another replica can send it", err)
		}
		e.arrivals(t, 1)
	}},
	{"Close/DuringSends", func(t *testing.T, e *env) {
		closing := e.closer(t)
		e.send(t, e.message(99))
		var wg sync.WaitGroup
		var mu sync.Mutex
		sent := 1
		for n := range 16 {
			wg.Go(func() {
				if err := e.Send(t.Context(), e.message(n)); err == nil {
					mu.Lock()
					sent++
					mu.Unlock()
				}
			})
		}
		wg.Go(func() { _ = closing(t.Context()) })
		wg.Wait()
		if got := len(e.receiver.Arrived()); got < sent {
			t.Errorf("%d messages have arrived, and Send has succeeded with %d", got, sent)
		}
	}},
}

// closer returns the sender's Close, or skips the check.
func (e *env) closer(t *testing.T) func(ctx context.Context) error {
	t.Helper()
	switch s := e.Sender.(type) {
	case interface{ Close() error }:
		return func(context.Context) error { return s.Close() }
	case interface {
		Close(ctx context.Context) error
	}:
		return s.Close
	case interface{ Close() }:
		return func(context.Context) error { s.Close(); return nil }
	default:
		t.Skip("the sender has no method Close")
		return nil
	}
}

// fails sends what must not succeed, and returns the error.
func (e *env) fails(t *testing.T, ctx context.Context, m *notifyx.Message) error {
	t.Helper()
	err := e.Send(ctx, m)
	if err == nil {
		t.Fatal("Send succeeded")
	}
	return err
}

// ends sends with a context that ends, and fails the test where Send takes too long after
// that, or says something else.
func (e *env) ends(t *testing.T, ctx context.Context, want error) {
	t.Helper()
	ended := make(chan time.Time, 1)
	defer context.AfterFunc(ctx, func() { ended <- time.Now() })()
	err := e.fails(t, ctx, e.message(1))
	if ctx.Err() == nil {
		t.Fatalf("Send ended before its context with %v", err)
	}
	if late := time.Since(<-ended); late > e.h.EndsWithin {
		t.Errorf("Send took %s after the end of its context, want at most %s", late, e.h.EndsWithin)
	}
	if !errors.Is(err, want) || errors.Is(err, notifyx.ErrPermanent) {
		t.Errorf("error = %v, want one that is %v, and no ErrPermanent", err, want)
	}
}
