package xhook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// CheckTimeout is the timeout of one health check.
const CheckTimeout = 2 * time.Second

// HealthChecker is implemented by nodes that contribute to readiness. CheckHealth returns
// nil if the node is healthy, and an error of Degraded if it works with limitations. It
// must be safe for concurrent use. Its context expires after CheckTimeout.
type HealthChecker interface {
	CheckHealth(ctx context.Context) error
}

// Degraded returns an error for a health check whose node works with limitations. The
// service stays ready and reports state, a single word such as "saturated".
func Degraded(state string) error { return &degradedError{state} }

type degradedError struct{ state string }

// Error implements error.
func (e *degradedError) Error() string { return "degraded: " + e.state }

// Health is the result of one health check.
type Health struct {
	// Name is the name passed to AddHealth.
	Name string
	// OK is true if the node is healthy or degraded.
	OK bool
	// State is the state passed to Degraded, or empty.
	State string
	// Latency is the time that Check waited for this check.
	Latency time.Duration
	// Err is the cause of a failed check. Log it but do not send it to clients: its text
	// may contain hosts and users.
	Err error
}

// check is a health check and its current run.
type check struct {
	name string
	fn   Func

	mu      sync.Mutex
	current *checkRun
}

// checkRun is one run of a check, shared by concurrent callers.
type checkRun struct {
	done chan struct{}
	err  error
}

// AddHealth adds a health check to the application of ctx. It returns false if ctx
// belongs to no application or if fn is nil.
func AddHealth(ctx context.Context, name string, fn Func) bool {
	return From(ctx).AddHealth(name, fn)
}

// AddHealth adds a health check to l; see the package function.
func (l *Lifecycle) AddHealth(name string, fn Func) bool {
	if l == nil || fn == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks = append(l.checks, &check{name: name, fn: fn})
	return true
}

// Check runs all health checks concurrently, each with CheckTimeout, and returns the
// results in the order in which the checks were added.
//
// Concurrent callers share one run of each check. While a check hangs, it is not started
// again.
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

func (c *check) health(ctx context.Context) Health {
	start := time.Now()
	err := c.wait(ctx)
	h := Health{Name: c.name, OK: err == nil, Latency: time.Since(start), Err: err}
	if d, ok := errors.AsType[*degradedError](err); ok {
		h.OK, h.State, h.Err = true, d.state, nil
	}
	return h
}

// wait returns the result of the current run, or the error of ctx if ctx is done first.
func (c *check) wait(ctx context.Context) error {
	run := c.join(ctx)
	select {
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the current run or starts one. The run is independent of the cancellation
// of ctx.
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
