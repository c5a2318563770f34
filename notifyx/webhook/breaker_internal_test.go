package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// newTestCircuits returns circuits with changed limits.
func newTestCircuits(change func(b *breaker)) *circuits {
	c := defaults()
	change(c.breaker)
	return newCircuits(&c)
}

// respond records n attempts with the result err and returns the last error.
func respond(s *circuits, id string, n int, err error) (last error) {
	for range n {
		_, last = s.do(id, func() (Result, error) { return Result{}, err })
	}
	return last
}

func TestBreaker(t *testing.T) {
	t.Run("opens after consecutive failures", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTestCircuits(func(*breaker) {})
			if err := respond(s, "a", 4, ErrTimeout); !errors.Is(err, ErrTimeout) {
				t.Fatal(err)
			}
			_ = respond(s, "a", 1, nil)
			if err := respond(s, "a", 5, ErrTimeout); !errors.Is(err, ErrTimeout) {
				t.Fatalf("success did not reset the failures: %v", err)
			}
			<-time.After(10 * time.Second)
			err := respond(s, "a", 1, nil)
			if wait, ok := RetryAfter(err); !errors.Is(err, ErrCircuitOpen) || !ok ||
				wait != 50*time.Second {
				t.Errorf("after 10 s: %v with %s, want ErrCircuitOpen for 50 s", err, wait)
			}
			if err := respond(s, "b", 1, nil); err != nil {
				t.Errorf("another endpoint: %v", err)
			}
		})
	})

	t.Run("lets one probe through while open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTestCircuits(func(b *breaker) { b.failures, b.openFor = 1, time.Minute })
			_ = respond(s, "a", 1, ErrConnection)
			<-time.After(time.Minute + 1)
			release, probed := make(chan struct{}), make(chan error)
			go func() {
				_, err := s.do("a",
					func() (Result, error) { <-release; return Result{}, ErrConnection })
				probed <- err
			}()
			synctest.Wait()
			err := respond(s, "a", 1, nil)
			if wait, _ := RetryAfter(err); !errors.Is(err, ErrCircuitOpen) ||
				wait != 20*time.Second {
				t.Errorf("during the probe: %v with %s, want ErrCircuitOpen "+
					"for the timeout of the probe", err, wait)
			}
			close(release)
			if err := <-probed; !errors.Is(err, ErrConnection) {
				t.Errorf("the probe: %v", err)
			}
			if err := respond(s, "a", 1, nil); !errors.Is(err, ErrCircuitOpen) {
				t.Errorf("after a probe that failed: %v, want ErrCircuitOpen", err)
			}
			<-time.After(time.Minute + 1)
			if err := respond(s, "a", 3, nil); err != nil {
				t.Errorf("after a probe that succeeded: %v", err)
			}
		})
	})

	t.Run("ignores a canceled probe", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTestCircuits(func(b *breaker) { b.failures = 1 })
			_ = respond(s, "a", 1, ErrConnection)
			<-time.After(time.Minute + 1)
			if err := respond(s, "a", 3, errCanceled); !errors.Is(err, errCanceled) {
				t.Errorf("error %v, want another probe each time", err)
			}
			if err := respond(s, "a", 2, nil); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("counts failures of the receiver only", func(t *testing.T) {
		for _, c := range []struct {
			err  error
			want bool
		}{
			{ErrTimeout, true},
			{ErrConnection, true},
			{ErrResponseTooLarge, true},
			{&StatusError{Status: 500}, true},
			{&StatusError{Status: 503}, true},
			{&StatusError{Status: 429}, true},
			{&StatusError{Status: 302}, false},
			{&StatusError{Status: 400}, false},
			{&StatusError{Status: 410}, false},
			{&StatusError{Status: 422}, false},
			{fmt.Errorf("wrapped: %w", &addressError{}), false},
			{fmt.Errorf("%w: %w", errCanceled, errors.New("stop")), false},
			{nil, false},
		} {
			s := newTestCircuits(func(*breaker) {})
			_ = respond(s, "a", 10, c.err)
			if got := errors.Is(respond(s, "a", 1, nil), ErrCircuitOpen); got != c.want {
				t.Errorf("%v: open %v, want %v", c.err, got, c.want)
			}
		}
	})

	t.Run("opens at the failure ratio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTestCircuits(func(b *breaker) { b.failures = 100 })
			for range 9 {
				_ = respond(s, "a", 1, nil)
				_ = respond(s, "a", 1, &StatusError{Status: http.StatusBadGateway})
			}
			if err := respond(s, "a", 1, nil); err != nil {
				t.Fatalf("19 attempts: %v", err)
			}
			_ = respond(s, "a", 1, ErrTimeout)
			if err := respond(s, "a", 1, nil); !errors.Is(err, ErrCircuitOpen) {
				t.Errorf("half of 20: %v, want ErrCircuitOpen", err)
			}
		})
	})

	t.Run("discards failures after the window", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newTestCircuits(func(b *breaker) { b.failures, b.window = 5, time.Minute })
			_ = respond(s, "a", 4, ErrTimeout)
			<-time.After(2 * time.Minute)
			_ = respond(s, "a", 4, ErrTimeout)
			if err := respond(s, "a", 1, nil); err != nil {
				t.Errorf("error %v, want the circuit closed", err)
			}
		})
	})
}

func TestCircuits_Eviction(t *testing.T) {
	s := newTestCircuits(func(b *breaker) { b.failures, b.maxEndpoints = 1, 3 })
	_ = respond(s, "down", 1, ErrTimeout)
	for i := range 2 {
		_ = respond(s, fmt.Sprint(i), 1, nil)
	}
	if err := respond(s, "down", 1, nil); !errors.Is(err, ErrCircuitOpen) {
		t.Errorf("below the limit: %v, want ErrCircuitOpen", err)
	}
	for i := range 100 {
		_ = respond(s, fmt.Sprint(i), 1, nil)
		if len(s.byID) > 3 || s.order.Len() != len(s.byID) {
			t.Fatalf("%d and %d circuits, want 3", len(s.byID), s.order.Len())
		}
	}
	if err := respond(s, "down", 1, nil); err != nil {
		t.Errorf("evicted circuit: %v, want it closed", err)
	}
}

func TestCircuits_Concurrency(*testing.T) {
	s := newTestCircuits(func(b *breaker) { b.maxEndpoints = 4 })
	done := make(chan struct{})
	for g := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 500 {
				_ = respond(s, fmt.Sprint((g+i)%9), 1, []error{nil, ErrTimeout}[i%2])
			}
		}()
	}
	for range 8 {
		<-done
	}
}
