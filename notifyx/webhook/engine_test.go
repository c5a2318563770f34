package webhook_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// engine is a fake job engine. It stores jobs in memory and makes an attempt when a test
// calls attempt.
type engine struct {
	mu      sync.Mutex
	jobs    map[string]*driver.Record
	reject  func(ctx context.Context) error
	run     func(ctx context.Context, a driver.Attempt) driver.Outcome
	working chan struct{}
}

// newEngine returns an engine and a context with its queue.
func newEngine(t *testing.T) (context.Context, *engine) {
	t.Helper()
	e := &engine{jobs: map[string]*driver.Record{}, working: make(chan struct{})}
	return withQueue(t.Context(), e), e
}

// withQueue returns a context with the queue of the engine.
func withQueue(ctx context.Context, e *engine) context.Context {
	return context.WithValue(ctx, xctx.JobQueueKey, job.NewQueue(e))
}

// work runs a worker with the handler until the end of the test.
func (e *engine) work(t *testing.T, ctx context.Context, h job.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- job.Work(ctx, job.WithHandlers(h)) }()
	select {
	case <-e.working:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// attempt makes the next attempt of the waiting job.
func (e *engine) attempt(t *testing.T) driver.Outcome {
	t.Helper()
	e.mu.Lock()
	var r *driver.Record
	for _, candidate := range e.jobs {
		if candidate.State == driver.Waiting {
			r = candidate
		}
	}
	e.mu.Unlock()
	if r == nil {
		t.Fatal("no waiting job")
	}
	r.Attempt++
	o := e.run(t.Context(), driver.Attempt{Job: r.Job, Number: r.Attempt, CreatedAt: r.CreatedAt})
	switch o.Action {
	case driver.Complete:
		r.State = driver.Done
	case driver.Discard:
		r.State = driver.Dead
	case driver.Release:
		r.Attempt--
	case driver.Retry:
	}
	r.Error = o.Error
	return o
}

// Capabilities implements driver.Engine.
func (e *engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{Name: "fake", Transactional: true}
}

// Insert implements driver.Engine.
func (e *engine) Insert(ctx context.Context, jobs []driver.Job) error {
	if e.reject != nil {
		if err := e.reject(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range jobs {
		e.jobs[j.ID] = &driver.Record{Job: j, State: driver.Waiting, CreatedAt: time.Now()}
	}
	return nil
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, w driver.Work) error {
	e.run = w.Run
	close(e.working)
	<-ctx.Done()
	return nil
}

// Get implements driver.Engine.
func (e *engine) Get(_ context.Context, id string) (driver.Record, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.jobs[id]; r != nil {
		return *r, nil
	}
	return driver.Record{}, driver.ErrNotFound
}

// List implements driver.Engine.
func (e *engine) List(_ context.Context, q driver.Query) ([]driver.Record, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []driver.Record
	for _, r := range e.jobs {
		if r.State == q.State && (q.Kind == "" || r.Kind == q.Kind) && r.ID > q.After {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b driver.Record) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all[:min(len(all), q.Limit)], nil
}

// Replay implements driver.Engine.
func (e *engine) Replay(_ context.Context, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.jobs[id]
	switch {
	case r == nil:
		return driver.ErrNotFound
	case r.State != driver.Dead:
		return driver.ErrState
	}
	r.State, r.Attempt = driver.Waiting, 0
	return nil
}

// Delete implements driver.Engine.
func (e *engine) Delete(context.Context, string) error { return driver.ErrNotFound }

// Ping implements driver.Engine.
func (e *engine) Ping(context.Context) error { return nil }

// Close implements driver.Engine.
func (e *engine) Close() error { return nil }
