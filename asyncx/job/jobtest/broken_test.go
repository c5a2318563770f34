package jobtest_test

import (
	"context"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
)

// broken is a right engine in which some methods are replaced by wrong ones.
type broken struct {
	right *memory.Engine
	store *memory.Store

	capabilities driver.Capabilities
	insert       func(ctx context.Context, jobs []driver.Job) error
	work         func(ctx context.Context, w driver.Work) error
	get          func(ctx context.Context, id string) (driver.Record, error)
	list         func(ctx context.Context, q driver.Query) ([]driver.Record, error)
	replay       func(ctx context.Context, id string) error
	remove       func(ctx context.Context, id string) error
	ping         func(ctx context.Context) error
	closing      func() error
}

func newBroken(m *memory.Store, e *memory.Engine) *broken {
	return &broken{
		right: e, store: m, capabilities: e.Capabilities(), insert: e.Insert, work: e.Work,
		get: e.Get, list: e.List, replay: e.Replay,
		remove: e.Delete, ping: e.Ping, closing: e.Close,
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
func (b *broken) Close() error { return b.closing() }

// stored changes what is stored.
func stored(change func(j *driver.Job)) func(b *broken) {
	return func(b *broken) {
		b.insert = func(ctx context.Context, jobs []driver.Job) error {
			var all []driver.Job
			for _, j := range jobs {
				change(&j)
				all = append(all, j)
			}
			return b.right.Insert(ctx, all)
		}
	}
}

// ran changes how an attempt is run; ctx is that of Work.
func ran(
	change func(b *broken, work, ctx context.Context, a driver.Attempt, run runner) driver.Outcome,
) func(b *broken) {
	return func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			run := w.Run
			w.Run = func(attempt context.Context, a driver.Attempt) driver.Outcome {
				return change(b, ctx, attempt, a, run)
			}
			return b.right.Work(ctx, w)
		}
	}
}

// runner is what Work.Run is.
type runner = func(ctx context.Context, a driver.Attempt) driver.Outcome

// settled changes what an attempt ends with.
func settled(change func(a driver.Attempt, o *driver.Outcome)) func(b *broken) {
	return ran(func(_ *broken, _, ctx context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		o := run(ctx, a)
		change(a, &o)
		return o
	})
}

// numbered changes the number of an attempt.
func numbered(change func(a *driver.Attempt)) func(b *broken) {
	return ran(func(_ *broken, _, ctx context.Context, a driver.Attempt,
		run runner,
	) driver.Outcome {
		change(&a)
		return run(ctx, a)
	})
}

// listed changes the pages.
func listed(change func(page []driver.Record) []driver.Record) func(b *broken) {
	return func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]driver.Record, error) {
			page, err := b.right.List(ctx, q)
			return change(page), err
		}
	}
}

// worked changes what a worker asks for.
func worked(change func(w *driver.Work)) func(b *broken) {
	return func(b *broken) {
		b.work = func(ctx context.Context, w driver.Work) error {
			change(&w)
			return b.right.Work(ctx, w)
		}
	}
}
