package webhook

import (
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// Breaker is when a receiver has failed often enough to be left alone for a while. There is one circuit for each endpoint
// id, in this process.
//
// No answer, no answer in time, an answer that is too large or no HTTP, 429 and 5xx are failures. Every other answer is not:
// a 400 is about one payload. What was never sent, and what the caller gave up, does not count. The circuit opens after
// Failures failures in a row within Window, or when of at least MinRequests in Window the share Ratio failed. After OpenFor
// one attempt is let through: it closes the circuit, or opens it again.
type Breaker struct {
	// Failures in a row; 5 by default.
	Failures int
	// Ratio of failures; 0.5 by default.
	Ratio float64
	// MinRequests before Ratio counts; 20 by default.
	MinRequests int
	// Window is how far back is looked; 1 min by default.
	Window time.Duration
	// OpenFor is how long nothing is sent; 1 min by default.
	OpenFor time.Duration
	// MaxEndpoints bounds the circuits that are kept; 10000 by default. The one that was not used for the longest time is
	// forgotten first, as if it had never failed.
	MaxEndpoints int
}

func (b Breaker) or(d Breaker) Breaker {
	pick := func(value *int, def int) {
		if *value == 0 {
			*value = def
		}
	}
	pick(&b.Failures, d.Failures)
	pick(&b.MinRequests, d.MinRequests)
	pick(&b.MaxEndpoints, d.MaxEndpoints)
	if b.Ratio == 0 {
		b.Ratio = d.Ratio
	}
	if b.Window == 0 {
		b.Window = d.Window
	}
	if b.OpenFor == 0 {
		b.OpenFor = d.OpenFor
	}
	return b
}

const (
	maxFailures = 1 << 20
	windowParts = 6
)

func (b Breaker) check() error {
	inRange := func(n int) bool { return n >= 1 && n <= maxFailures }
	if !inRange(b.Failures) || !inRange(b.MinRequests) || !inRange(b.MaxEndpoints) ||
		!(b.Ratio > 0 && b.Ratio <= 1) || b.Window < windowParts || b.OpenFor <= 0 {
		return fmt.Errorf("%w: a circuit breaker of %+v", ErrOption, b)
	}
	return nil
}

// tripped reports whether the circuit opens.
func (b Breaker) tripped(n gobreaker.Counts) bool {
	if n.ConsecutiveFailures >= uint32(b.Failures) { // G115: checked at the start
		return true
	}
	done := n.TotalSuccesses + n.TotalFailures
	return done >= uint32(b.MinRequests) && float64(n.TotalFailures) >= b.Ratio*float64(done) // G115: checked
}

// circuits keeps the circuit of each endpoint that was used lately.
type circuits struct {
	limits  Breaker
	probing time.Duration // how long a probe takes at most
	log     *xlog.LogNamedLogger

	mu    sync.Mutex
	byID  map[string]*list.Element // of *circuit
	order *list.List               // the latest first
}

type circuit struct {
	id      string
	breaker *gobreaker.CircuitBreaker[Result]

	mu       sync.Mutex
	openedAt time.Time
}

func newCircuits(c *config) *circuits {
	if c.breaker == nil {
		return nil
	}
	return &circuits{limits: *c.breaker, probing: c.timeout, log: c.log, byID: map[string]*list.Element{}, order: list.New()}
}

func (s *circuits) get(id string) *circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok {
		s.order.MoveToFront(e)
		c, _ := e.Value.(*circuit)
		return c
	}
	for s.order.Len() >= s.limits.MaxEndpoints {
		old, _ := s.order.Remove(s.order.Back()).(*circuit)
		delete(s.byID, old.id)
	}
	c := s.open(id)
	s.byID[id] = s.order.PushFront(c)
	return c
}

// open makes a closed circuit.
func (s *circuits) open(id string) *circuit {
	c := &circuit{id: id}
	c.breaker = gobreaker.NewCircuitBreaker[Result](gobreaker.Settings{
		Name:         id,
		Interval:     s.limits.Window,
		BucketPeriod: s.limits.Window / windowParts,
		Timeout:      s.limits.OpenFor,
		ReadyToTrip:  s.limits.tripped,
		IsSuccessful: func(err error) bool { return !isFailure(err) },
		IsExcluded:   isExcluded,
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				c.mu.Lock()
				c.openedAt = time.Now()
				c.mu.Unlock()
				s.log.Slog().Warn("webhook circuit opened", slog.String("endpoint", id), slog.Duration("for", s.limits.OpenFor))
			}
		},
	})
	return c
}

// do runs send unless the endpoint is left alone. A nil *circuits lets everything through.
func (s *circuits) do(id string, send func() (Result, error)) (Result, error) {
	if s == nil {
		return send()
	}
	c := s.get(id)
	result, err := c.breaker.Execute(send)
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		c.mu.Lock()
		left := time.Until(c.openedAt.Add(s.limits.OpenFor))
		c.mu.Unlock()
		return Result{}, &CircuitOpenError{Wait: max(left, minRetryAfter)}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // the probe is under way
		return Result{}, &CircuitOpenError{Wait: max(s.probing, minRetryAfter)}
	default:
		return result, err
	}
}

// isFailure reports whether the receiver is to blame.
func isFailure(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status >= http.StatusInternalServerError || status.Status == http.StatusTooManyRequests
	}
	return err != nil
}

// isExcluded reports whether the outcome says nothing about the receiver.
func isExcluded(err error) bool {
	return errors.Is(err, ErrBlockedAddress) || errors.Is(err, ErrURL) || errors.Is(err, errGaveUp)
}
