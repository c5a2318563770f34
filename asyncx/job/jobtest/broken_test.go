package jobtest_test

import (
	"context"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
)

// broken is an engine with replaceable methods. By default they call base.
type broken struct {
	base  *memory.Engine
	store *memory.Store

	capabilities driver.Capabilities
	insert       func(ctx context.Context, jobs []driver.Job) error
	work         func(ctx context.Context, w driver.Work) error
	get          func(ctx context.Context, id string) (driver.Record, error)
	list         func(ctx context.Context, q driver.Query) ([]driver.Record, error)
	replay       func(ctx context.Context, id string) error
	remove       func(ctx context.Context, id string) error
	ping         func(ctx context.Context) error
	close        func() error
}

func newBroken(m *memory.Store, e *memory.Engine) *broken {
	return &broken{
		base: e, store: m, capabilities: e.Capabilities(), insert: e.Insert, work: e.Work,
		get: e.Get, list: e.List, replay: e.Replay,
		remove: e.Delete, ping: e.Ping, close: e.Close,
	}
}

// Capabilities implements driver.Engine.
func (b *broken) Capabilities() driver.Capabilities { return b.capabilities }

// Insert implements driver.Engine.
func (b *broken) Insert(ctx context.Context, jobs []driver.Job) error { return b.insert(ctx, jobs) }

// Work implements driver.Engine.
func (b *broken) Work(ctx context.Context, w driver.Work) error { return b.work(ctx, w) }

// Get implements driver.Engine.
func (b *broken) Get(ctx context.Context, id string) (driver.Record, error) {
	return b.get(ctx, id)
}

// List implements driver.Engine.
func (b *broken) List(ctx context.Context, q driver.Query) ([]driver.Record, error) {
	return b.list(ctx, q)
}

// Replay implements driver.Engine.
func (b *broken) Replay(ctx context.Context, id string) error { return b.replay(ctx, id) }

// Delete implements driver.Engine.
func (b *broken) Delete(ctx context.Context, id string) error { return b.remove(ctx, id) }

// Ping implements driver.Engine.
func (b *broken) Ping(ctx context.Context) error { return b.ping(ctx) }

// Close implements driver.Engine.
func (b *broken) Close() error { return b.close() }

// changeJob modifies each inserted job.
func changeJob(change func(j *driver.Job)) func(b *broken) {
	return func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			var all []driver.Job
			for _, j := range jobs {
				change(&j)
				all = append(all, j)
			}
			return b.base.Insert(ctx, all)
		}
	}
}

// wrapRun replaces Work.Run with change, which may call the original run. work is the
// context of Work.
func wrapRun(
	change func(b *broken, work, ctx context.Context, a driver.Attempt, run runFunc) driver.Outcome,
) func(b *broken) {
	return func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			run := w.Run
			w.Run = func(attempt context.Context, a driver.Attempt) driver.Outcome {
				return change(b, ctx, attempt, a, run)
			}
			return b.base.Work(ctx, w)
		}
	}
}

// runFunc is the type of Work.Run.
type runFunc = func(ctx context.Context, a driver.Attempt) driver.Outcome

// changeOutcome modifies the outcomes.
func changeOutcome(change func(a driver.Attempt, o *driver.Outcome)) func(b *broken) {
	return wrapRun(func(
		_ *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		o := run(ctx, a)
		change(a, &o)
		return o
	})
}

// changeAttempt modifies the attempts.
func changeAttempt(change func(a *driver.Attempt)) func(b *broken) {
	return wrapRun(func(
		_ *broken, _, ctx context.Context, a driver.Attempt, run runFunc,
	) driver.Outcome {
		change(&a)
		return run(ctx, a)
	})
}

// changePage modifies the pages of List.
func changePage(change func(page []driver.Record) []driver.Record) func(b *broken) {
	return func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			page, err := b.base.List(ctx, q)
			return change(page), err
		}
	}
}

// changeWork modifies the argument of Work.
func changeWork(change func(w *driver.Work)) func(b *broken) {
	return func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			change(&w)
			return b.base.Work(ctx, w)
		}
	}
}
