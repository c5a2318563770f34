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

// breaker is when a receiver has failed often enough to be left alone for a while. There
// is one circuit for each endpoint id, in this process.
//
// No answer, no answer in time, an answer that is too large or no HTTP, 429 and 5xx are
// failures. Every other answer is not: a 400 is about one payload. What was never sent,
// and what the caller gave up, does not count. The circuit opens after failures in a row
// within the window, or when of at least minRequests in the window the share ratio
// failed. After openFor one attempt is let through: it closes the circuit, or opens it
// again.
type breaker struct {
	failures    uint32
	ratio       float64
	minRequests uint32
	window      time.Duration
	openFor     time.Duration
	// the circuit that was not used for the longest time is forgotten first, as if it had
	// never failed
	maxEndpoints int
}

const windowParts = 6

// tripped reports whether the circuit opens.
func (b *breaker) tripped(n gobreaker.Counts) bool {
	done := n.TotalSuccesses + n.TotalFailures
	return n.ConsecutiveFailures >= b.failures || done >= b.minRequests &&
		float64(n.TotalFailures) >= b.ratio*float64(done)
}

// circuits keeps the circuit of each endpoint that was used lately.
type circuits struct {
	limits  *breaker
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
	return &circuits{
		limits: c.breaker, probing: c.timeout, log: c.log,
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
	c := s.open(id)
	s.byID[id] = s.order.PushFront(c)
	return c
}

// open makes a closed circuit.
func (s *circuits) open(id string) *circuit {
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

// do runs send unless the endpoint is left alone. A nil *circuits lets everything
// through.
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
	case errors.Is(err, gobreaker.ErrTooManyRequests): // the probe is under way
		return Result{}, &circuitOpenError{wait: max(s.probing, minRetryAfter)}
	default:
		return result, err
	}
}

// isFailure reports whether the receiver is to blame.
func isFailure(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status >= http.StatusInternalServerError ||
			status.Status == http.StatusTooManyRequests
	}
	return err != nil
}

// isExcluded reports whether the outcome says nothing about the receiver.
func isExcluded(err error) bool {
	return errors.Is(err, ErrBlockedAddress) || errors.Is(err, ErrURL) || errors.Is(err, errGaveUp)
}
