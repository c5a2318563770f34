package webhook

import (
	"container/list"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// breaker configures the circuit breaker. Each endpoint ID has one circuit per process.
//
// A missing, late, oversized or non-HTTP response, status 429 and 5xx count as failures.
// Other responses do not: a 400 concerns a single payload. Requests that were not sent or
// that the caller canceled are not counted.
//
// An open circuit permits one probe after openFor. The result of the probe closes or
// reopens the circuit.
type breaker struct {
	failures    uint32  // consecutive failures that open the circuit
	ratio       float64 // share of failures in the window that opens the circuit
	minRequests uint32  // requests in the window from which ratio applies
	window      time.Duration
	openFor     time.Duration
	// the least recently used circuit is evicted first
	maxEndpoints int
}

// windowParts is the number of steps in which the window moves.
const windowParts = 6

func (b *breaker) tripped(n gobreaker.Counts) bool {
	done := n.TotalSuccesses + n.TotalFailures
	return n.ConsecutiveFailures >= b.failures ||
		done >= b.minRequests && float64(n.TotalFailures) >= b.ratio*float64(done)
}

// circuits stores the circuits of recently used endpoints.
type circuits struct {
	limits       *breaker
	probeTimeout time.Duration // maximum duration of a probe
	log          *xlog.LogNamedLogger

	mu    sync.Mutex
	byID  map[string]*list.Element // of *circuit
	order *list.List               // most recently used first
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
	return &circuits{
		limits: c.breaker, probeTimeout: c.timeout, log: c.log,
		byID: map[string]*list.Element{}, order: list.New(),
	}
}

func (s *circuits) get(id string) *circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byID[id]; ok {
		s.order.MoveToFront(e)
		c, _ := e.Value.(*circuit)
		return c
	}
	for s.order.Len() >= s.limits.maxEndpoints {
		old, _ := s.order.Remove(s.order.Back()).(*circuit)
		delete(s.byID, old.id)
	}
	c := s.newCircuit(id)
	s.byID[id] = s.order.PushFront(c)
	return c
}

// newCircuit returns a new, closed circuit.
func (s *circuits) newCircuit(id string) *circuit {
	c := &circuit{id: id}
	c.breaker = gobreaker.NewCircuitBreaker[Result](gobreaker.Settings{
		Name:         id,
		Interval:     s.limits.window,
		BucketPeriod: s.limits.window / windowParts,
		Timeout:      s.limits.openFor,
		ReadyToTrip:  s.limits.tripped,
		IsSuccessful: func(err error) bool { return !isFailure(err) },
		IsExcluded:   isExcluded,
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				c.mu.Lock()
				c.openedAt = time.Now()
				c.mu.Unlock()
				s.log.Slog().Warn("webhook circuit opened",
					slog.String("endpoint", id), slog.Duration("for", s.limits.openFor))
			}
		},
	})
	return c
}

// do calls send unless the circuit of the endpoint is open. A nil *circuits always calls
// send.
func (s *circuits) do(id string, send func() (Result, error)) (Result, error) {
	if s == nil {
		return send()
	}
	c := s.get(id)
	result, err := c.breaker.Execute(send)
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		c.mu.Lock()
		left := time.Until(c.openedAt.Add(s.limits.openFor))
		c.mu.Unlock()
		return Result{}, &circuitOpenError{wait: max(left, minRetryAfter)}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // a probe is in flight
		return Result{}, &circuitOpenError{wait: max(s.probeTimeout, minRetryAfter)}
	default:
		return result, err
	}
}

// isFailure reports whether err is a failure of the receiver.
func isFailure(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status >= http.StatusInternalServerError ||
			status.Status == http.StatusTooManyRequests
	}
	return err != nil
}

// isExcluded reports whether err is unrelated to the state of the receiver.
func isExcluded(err error) bool {
	return errors.Is(err, ErrBlockedAddress) || errors.Is(err, ErrURL) ||
		errors.Is(err, errCanceled)
}
