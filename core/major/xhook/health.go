package xhook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// CheckTimeout bounds one health check.
const CheckTimeout = 2 * time.Second

// HealthChecker is implemented by a node that takes part in the readiness of its service.
// A nil error is health, and so is that of Degraded. It is called from any goroutine, and
// its context ends after CheckTimeout.
type HealthChecker interface {
	CheckHealth(ctx context.Context) error
}

// Degraded returns the error of a health check whose node works, but is impaired: its
// service stays ready, and the state, one word such as "saturated", is reported.
func Degraded(state string) error { return &degradedError{state} }

// degradedError is the error of Degraded.
type degradedError struct{ state string }

// Error implements error.
func (e *degradedError) Error() string { return "degraded: " + e.state }

// Health is the outcome of one check.
type Health struct {
	// Name is the name that was given to AddHealth.
	Name string
	// OK is true where Err is nil.
	OK bool
	// State is that of Degraded, else empty.
	State string
	// Latency is how long the caller waited for this check.
	Latency time.Duration
	// Err says what is wrong. It is for the log: its text may name hosts and users.
	Err error
}

// check is one health check and the run of it that is under way.
type check struct {
	name string
	fn   Func

	mu      sync.Mutex
	current *checkRun
}

// checkRun is one call of a check, shared by all who ask meanwhile.
type checkRun struct {
	done chan struct{}
	err  error
}

// AddHealth makes fn part of the readiness of the application that ctx belongs to. The
// result is false where it belongs to none.
func AddHealth(ctx context.Context, name string, fn Func) bool {
	return From(ctx).AddHealth(name, fn)
}

// AddHealth is the package function AddHealth for this life.
func (l *Lifecycle) AddHealth(name string, fn Func) bool {
	if l == nil || fn == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks = append(l.checks, &check{name: name, fn: fn})
	return true
}

// Check runs every health check at the same time, each bounded by CheckTimeout, and
// returns their outcomes in the order in which they were added.
//
// Callers at the same time share one run of each check, so that a check that hangs is
// never started twice.
func (l *Lifecycle) Check(ctx context.Context) []Health {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	checks := slices.Clone(l.checks)
	l.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	out := make([]Health, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { out[i] = c.health(ctx) })
	}
	wg.Wait()
	return out
}

// health returns the outcome of the check.
func (c *check) health(ctx context.Context) Health {
	start := time.Now()
	err := c.ask(ctx)
	h := Health{Name: c.name, OK: err == nil, Latency: time.Since(start), Err: err}
	if d, ok := errors.AsType[*degradedError](err); ok {
		h.OK, h.State, h.Err = true, d.state, nil
	}
	return h
}

// ask waits for the run under way, or for a new one, as long as ctx lasts.
func (c *check) ask(ctx context.Context) error {
	run := c.join(ctx)
	select {
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the run under way, or starts one that does not end with its first caller.
func (c *check) join(ctx context.Context) *checkRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		return c.current
	}
	run := &checkRun{done: make(chan struct{})}
	c.current = run
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CheckTimeout)
	go func() {
		defer cancel()
		run.err = Guard(func() error { return c.fn(ctx) })
		c.mu.Lock()
		c.current = nil
		c.mu.Unlock()
		close(run.done)
	}()
	return run
}
