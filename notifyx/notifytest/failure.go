package notifytest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
)

// failureChecks cover receivers that reject messages.
var failureChecks = []check{
	{"Failure/Temporary", func(t *testing.T, e *env) {
		e.receiver.SetMode(FailTemporarily)
		if err := e.fails(t, t.Context(), e.message(1)); errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, want an error that is not an ErrPermanent, "+
				"which prevents retries", err)
		}
		e.arrivals(t, 0)
	}},
	{"Failure/Permanent", func(t *testing.T, e *env) {
		e.receiver.SetMode(FailPermanently)
		if err := e.fails(t, t.Context(), e.message(1)); !errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, want an ErrPermanent", err)
		}
		e.arrivals(t, 0)
	}},
	{"Failure/NextMessageSucceeds", func(t *testing.T, e *env) {
		for _, mode := range []Mode{FailTemporarily, FailPermanently} {
			e.receiver.SetMode(mode)
			_ = e.fails(t, t.Context(), e.message(1))
		}
		e.receiver.SetMode(Accept)
		e.send(t, e.message(2))
		e.arrivals(t, 1)
	}},
	{"Failure/HidesRecipients", func(t *testing.T, e *env) {
		for _, mode := range []Mode{FailTemporarily, FailPermanently} {
			e.receiver.SetMode(mode)
			m := e.message(1)
			if err := e.fails(t, t.Context(), m); shows(err.Error(), m) {
				t.Errorf("error contains a recipient or content: %v", err)
			}
		}
	}},
}

// contextChecks cover canceled contexts and deadlines.
var contextChecks = []check{
	{"Context/AlreadyCanceled", func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.expectCancel(t, ctx, context.Canceled)
		e.arrivals(t, 0)
	}},
	{"Context/Deadline", func(t *testing.T, e *env) {
		e.receiver.SetMode(Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.expectCancel(t, ctx, context.DeadlineExceeded)
	}},
	{"Context/Canceled", func(t *testing.T, e *env) {
		e.receiver.SetMode(Hang)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
		e.expectCancel(t, ctx, context.Canceled)
	}},
	{"Context/NextMessageSucceeds", func(t *testing.T, e *env) {
		e.receiver.SetMode(Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		e.expectCancel(t, ctx, context.DeadlineExceeded)
		e.receiver.SetMode(Accept)
		before := len(e.receiver.Arrived())
		e.send(t, e.message(2))
		if got := len(e.receiver.Arrived()); got != before+1 {
			t.Errorf("%d messages arrived, want %d", got, before+1)
		}
	}},
}

// closeChecks cover senders with a Close method.
var closeChecks = []check{
	{"Close/TwiceThenRejects", func(t *testing.T, e *env) {
		closing := e.closer(t)
		e.send(t, e.message(1))
		for range 2 {
			if err := closing(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if err := e.fails(t, t.Context(), e.message(2)); errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("error = %v, want an error that is not an ErrPermanent: "+
				"another replica can send the message", err)
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
			t.Errorf("%d messages arrived, want at least %d successful sends", got, sent)
		}
	}},
}

// closer returns the Close method of the sender, or skips the check.
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
		t.Skip("the sender has no Close method")
		return nil
	}
}

// fails sends a message and requires an error, which it returns.
func (e *env) fails(t *testing.T, ctx context.Context, m *notifyx.Message) error {
	t.Helper()
	err := e.Send(ctx, m)
	if err == nil {
		t.Fatal("Send succeeded")
	}
	return err
}

// expectCancel sends a message with a context that will be done. It requires that Send
// returns soon after that, with the error want.
func (e *env) expectCancel(t *testing.T, ctx context.Context, want error) {
	t.Helper()
	done := make(chan time.Time, 1)
	defer context.AfterFunc(ctx, func() { done <- time.Now() })()
	err := e.fails(t, ctx, e.message(1))
	if ctx.Err() == nil {
		t.Fatalf("Send returned before the context was done: %v", err)
	}
	if late := time.Since(<-done); late > e.h.CancelTimeout {
		t.Errorf("Send took %s after the end of its context, want at most %s",
			late, e.h.CancelTimeout)
	}
	if !errors.Is(err, want) || errors.Is(err, notifyx.ErrPermanent) {
		t.Errorf("error = %v, want %v and not an ErrPermanent", err, want)
	}
}
