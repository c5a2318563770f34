package river

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

const (
	// fetchCooldown is the shortest time between two looks for jobs: the throughput is at
	// most the concurrency in that time.
	fetchCooldown = 2 * time.Millisecond

	statementTimeout = 10 * time.Second

	// settleTimeout is how long Work waits at its end for a server that is away.
	settleTimeout = 15 * time.Second

	// forEver stands for a number of attempts, or a time, that is never reached: who ends
	// a job is package job, and who takes it from a dead worker is pulse.
	forEver     = math.MaxInt32
	neverRescue = 100 * 365 * 24 * time.Hour

	maxWorkers = river.QueueNumWorkersMax
)

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, w driver.Work) error {
	if err := e.open(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // it is over before it has begun
	}
	pool, err := e.pool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	k := &worker{work: w, stopping: ctx, ended: make(chan struct{}, 1), pilot: &pilot{
		pool: pool, sql: e.sql, client: clientName(), kinds: w.Kinds, claims: map[int64]*claim{},
	}}
	client, err := e.client(k)
	if err != nil {
		return fmt.Errorf("river: work: %w", err)
	}
	steady := context.WithoutCancel(ctx) // attempts go on, and are settled, when ctx ends
	if err := client.Start(steady); err != nil {
		return fmt.Errorf("river: work: %w", err)
	}
	k.keep(steady, e.takeOver/beats, func() {
		<-ctx.Done()
		k.stop(steady, client)
	})
	return nil
}

// client returns River's.
func (e *engine) client(k *worker) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, k); err != nil {
		return nil, err
	}
	client, err := river.NewClient[pgx.Tx](pluggedDriver{riverpgxv5.New(k.pilot.pool), k.pilot},
		&river.Config{
			ID:      k.pilot.client,
			Schema:  e.schema,
			Logger:  slog.New(&logHandler{failed: k.work.OnError}),
			Workers: workers,
			Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: min(k.work.Concurrency,
				maxWorkers)}},

			FetchCooldown:     min(fetchCooldown, max(k.work.PollInterval, river.FetchCooldownMin)),
			FetchPollInterval: max(k.work.PollInterval, river.FetchPollIntervalMin),

			JobTimeout:           -1, // package job bounds attempts
			RescueStuckJobsAfter: neverRescue,

			CompletedJobRetentionPeriod: e.retention,
			CancelledJobRetentionPeriod: -1,
			DiscardedJobRetentionPeriod: -1,
		})
	if err == nil && !k.pilot.asked {
		err = errUnpiloted
	}
	return client, err
}

// clientName is unique, and says to people where a job ran.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return strings.ToValidUTF8(host[:min(len(host), 60)], "") + "-" + rand.Text()
}

// jobArgs are of no kind of job but stand for all; what River reads of them is nothing.
type jobArgs struct{ wait time.Duration }

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return jobKind }

// UnmarshalJSON implements json.Unmarshaler.
func (*jobArgs) UnmarshalJSON([]byte) error { return nil }

// worker implements river.Worker.
type worker struct {
	river.WorkerDefaults[jobArgs]
	work driver.Work

	stopping context.Context // ends when no attempt is to begin any more
	pilot    *pilot
	running  atomic.Int64  // attempts
	ended    chan struct{} // filled when one has ended
}

// keep lets claims live while fn runs, and until what it has left is settled.
func (k *worker) keep(ctx context.Context, every time.Duration, fn func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { (&pulse{pilot: k.pilot, every: every, failed: k.work.OnError}).run(ctx) })
	fn()
	cancel()
	beats.Wait()
}

// stop waits for the attempts, and then for a while for what River has to tell the
// server.
func (k *worker) stop(ctx context.Context, client *river.Client[pgx.Tx]) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = client.Stop(ctx) // its only error is that of ctx
	}()
	for k.running.Load() > 0 {
		select {
		case <-k.ended:
		case <-stopped:
			return
		}
	}
	timer := time.NewTimer(settleTimeout)
	defer timer.Stop()
	select {
	case <-stopped:
	case <-timer.C:
		k.work.OnError(ctx, "settle the last attempts",
			errors.New("river: no answer: they run again"))
	}
}

// Work implements river.Worker.
func (k *worker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	k.running.Add(1) // before it looks whether it may begin
	defer k.end()
	// River ends its own for reasons of no concern here
	attempt, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	a, ok := k.pilot.begin(job.ID, cancel)
	if !ok || k.stopping.Err() != nil {
		return river.JobSnooze(0)
	}
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), rivertype.ErrJobCancelledRemotely) { // by people
			cancel(ErrTaken)
		}
	})()
	o := k.work.Run(attempt, a)
	switch o.Action {
	case driver.Complete:
		return nil
	case driver.Discard:
		return &ended{text: o.Error, cause: river.JobCancel(nil)}
	case driver.Release:
		return river.JobSnooze(max(o.Wait, 0))
	default:
		job.Args.wait = max(o.Wait, 0)
		return &ended{text: o.Error}
	}
}

func (k *worker) end() {
	k.running.Add(-1)
	select {
	case k.ended <- struct{}{}:
	default:
	}
}

// NextRetry implements river.Worker.
func (*worker) NextRetry(job *river.Job[jobArgs]) time.Time { return time.Now().Add(job.Args.wait) }

// ended is an error with the text that is kept, whatever River makes of its cause.
type ended struct {
	text  string
	cause error
}

// Error implements error. PostgreSQL stores no NUL.
func (e *ended) Error() string { return strings.ReplaceAll(e.text, "\x00", "") }

// Unwrap returns what River looks for.
func (e *ended) Unwrap() error { return e.cause }
