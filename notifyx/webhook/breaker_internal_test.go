package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// breaking returns circuits with limits that a test changes.
func breaking(change func(b *breaker)) *circuits {
	c := defaults()
	change(c.breaker)
	return newCircuits(&c)
}

// answers lets the endpoint answer n times with err, and returns the last error.
func answers(s *circuits, id string, n int, err error) (last error) {
	for range n {
		_, last = s.do(id, func() (Result, error) { return Result{}, err })
	}
	return last
}

func TestACircuitOpensAfterFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaking(func(*breaker) {})
		if err := answers(s, "a", 4, ErrTimeout); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		_ = answers(s, "a", 1, nil)
		if err := answers(s, "a", 5, ErrTimeout); !errors.Is(err, ErrTimeout) {
			t.Fatalf("a success between failures did not count: %v", err)
		}
		<-time.After(10 * time.Second)
		err := answers(s, "a", 1, nil)
		if wait, ok := RetryAfter(err); !errors.Is(err, ErrCircuitOpen) || !ok ||
			wait != 50*time.Second {
			t.Errorf("after 10 s: %v with %s, want ErrCircuitOpen for 50 s", err, wait)
		}
		if err := answers(s, "b", 1, nil); err != nil {
			t.Errorf("another endpoint: %v", err)
		}
	})
}

func TestAnOpenCircuitLetsOneProbeThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaking(func(b *breaker) { b.failures, b.openFor = 1, time.Minute })
		_ = answers(s, "a", 1, ErrConnection)
		<-time.After(time.Minute + 1)
		release, probed := make(chan struct{}), make(chan error)
		go func() {
			_, err := s.do("a",
				func() (Result, error) { <-release; return Result{}, ErrConnection })
			probed <- err
		}()
		synctest.Wait()
		err := answers(s, "a", 1, nil)
		if wait, _ := RetryAfter(err); !errors.Is(err, ErrCircuitOpen) || wait != 20*time.Second {
			t.Errorf("beside the probe: %v with %s, want ErrCircuitOpen for the timeout of the probe", err, wait)
		}
		close(release)
		if err := <-probed; !errors.Is(err, ErrConnection) {
			t.Errorf("the probe: %v", err)
		}
		if err := answers(s, "a", 1, nil); !errors.Is(err, ErrCircuitOpen) {
			t.Errorf("after a probe that failed: %v, want ErrCircuitOpen", err)
		}
		<-time.After(time.Minute + 1)
		if err := answers(s, "a", 3, nil); err != nil {
			t.Errorf("after a probe that succeeded: %v", err)
		}
	})
}

func TestAProbeThatTheCallerGaveUpIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaking(func(b *breaker) { b.failures = 1 })
		_ = answers(s, "a", 1, ErrConnection)
		<-time.After(time.Minute + 1)
		if err := answers(s, "a", 3, errGaveUp); !errors.Is(err, errGaveUp) {
			t.Errorf("error %v, want to be let through again and again", err)
		}
		if err := answers(s, "a", 2, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatCountsAsAFailure(t *testing.T) {
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
		{fmt.Errorf("%w: %w", errGaveUp, errors.New("stop")), false},
		{nil, false},
	} {
		s := breaking(func(*breaker) {})
		_ = answers(s, "a", 10, c.err)
		if got := errors.Is(answers(s, "a", 1, nil), ErrCircuitOpen); got != c.want {
			t.Errorf("%v: open %v, want %v", c.err, got, c.want)
		}
	}
}

func TestACircuitOpensAtTheRatio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaking(func(b *breaker) { b.failures = 100 })
		for range 9 {
			_ = answers(s, "a", 1, nil)
			_ = answers(s, "a", 1, &StatusError{Status: http.StatusBadGateway})
		}
		if err := answers(s, "a", 1, nil); err != nil {
			t.Fatalf("19 attempts: %v", err)
		}
		_ = answers(s, "a", 1, ErrTimeout)
		if err := answers(s, "a", 1, nil); !errors.Is(err, ErrCircuitOpen) {
			t.Errorf("half of 20: %v, want ErrCircuitOpen", err)
		}
	})
}

func TestFailuresAreForgottenAfterTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaking(func(b *breaker) { b.failures, b.window = 5, time.Minute })
		_ = answers(s, "a", 4, ErrTimeout)
		<-time.After(2 * time.Minute)
		_ = answers(s, "a", 4, ErrTimeout)
		if err := answers(s, "a", 1, nil); err != nil {
			t.Errorf("error %v, want the circuit closed", err)
		}
	})
}

func TestTheNumberOfCircuitsIsBounded(t *testing.T) {
	s := breaking(func(b *breaker) { b.failures, b.maxEndpoints = 1, 3 })
	_ = answers(s, "down", 1, ErrTimeout)
	for i := range 2 {
		_ = answers(s, fmt.Sprint(i), 1, nil)
	}
	if err := answers(s, "down", 1, nil); !errors.Is(err, ErrCircuitOpen) {
		t.Errorf("within the bound: %v, want ErrCircuitOpen", err)
	}
	for i := range 100 {
		_ = answers(s, fmt.Sprint(i), 1, nil)
		if len(s.byID) > 3 || s.order.Len() != len(s.byID) {
			t.Fatalf("%d and %d are kept, want 3", len(s.byID), s.order.Len())
		}
	}
	if err := answers(s, "down", 1, nil); err != nil {
		t.Errorf("a forgotten circuit: %v, want it closed", err)
	}
}

func TestConcurrentUseOfManyCircuits(*testing.T) {
	s := breaking(func(b *breaker) { b.maxEndpoints = 4 })
	done := make(chan struct{})
	for g := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 500 {
				_ = answers(s, fmt.Sprint((g+i)%9), 1, []error{nil, ErrTimeout}[i%2])
			}
		}()
	}
	for range 8 {
		<-done
	}
}
