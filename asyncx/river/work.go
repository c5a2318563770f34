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
	// fetchCooldown is the minimum time between two fetches. A worker can therefore start
	// at most Work.Concurrency jobs per cooldown.
	fetchCooldown = 2 * time.Millisecond

	statementTimeout = 10 * time.Second

	// settleTimeout is how long shutdown waits for an unreachable server.
	settleTimeout = 15 * time.Second

	// noAttemptLimit and noRescue disable River's limits: package job limits attempts,
	// and heartbeat rescues the jobs of crashed workers.
	noAttemptLimit = math.MaxInt32
	noRescue       = 100 * 365 * 24 * time.Hour

	maxWorkers = river.QueueNumWorkersMax
)

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, w driver.Work) error {
	if err := e.open(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // canceled before the start
	}
	pool, err := e.pool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	k := &worker{work: w, acceptCtx: ctx, returned: make(chan struct{}, 1), pilot: &pilot{
		pool: pool, sql: e.sql, client: clientName(), kinds: w.Kinds, claims: map[int64]*claim{},
	}}
	client, err := e.client(k)
	if err != nil {
		return fmt.Errorf("river: work: %w", err)
	}
	workCtx := context.WithoutCancel(ctx) // attempts continue after the cancellation of ctx
	if err := client.Start(workCtx); err != nil {
		return fmt.Errorf("river: work: %w", err)
	}
	k.withHeartbeat(workCtx, e.takeOver/beatsPerTimeout, func() {
		<-ctx.Done()
		k.stop(workCtx, client)
	})
	return nil
}

// client returns a client of River.
func (e *engine) client(k *worker) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, k); err != nil {
		return nil, err
	}
	client, err := river.NewClient[pgx.Tx](pluggedDriver{riverpgxv5.New(k.pilot.pool), k.pilot},
		&river.Config{
			ID:      k.pilot.client,
			Schema:  e.schema,
			Logger:  slog.New(&logHandler{onError: k.work.OnError}),
			Workers: workers,
			Queues: map[string]river.QueueConfig{
				Queue: {MaxWorkers: min(k.work.Concurrency, maxWorkers)},
			},

			FetchCooldown:     min(fetchCooldown, max(k.work.PollInterval, river.FetchCooldownMin)),
			FetchPollInterval: max(k.work.PollInterval, river.FetchPollIntervalMin),

			JobTimeout:           -1, // package job limits attempts
			RescueStuckJobsAfter: noRescue,

			CompletedJobRetentionPeriod: e.retention,
			CancelledJobRetentionPeriod: -1,
			DiscardedJobRetentionPeriod: -1,
		})
	if err == nil && !k.pilot.installed {
		err = errNoPilot
	}
	return client, err
}

// clientName returns a unique name that starts with the host name.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return strings.ToValidUTF8(host[:min(len(host), 60)], "") + "-" + rand.Text()
}

// jobArgs represents the arguments of all kinds. River does not decode them.
type jobArgs struct{ wait time.Duration }

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return jobKind }

// UnmarshalJSON implements json.Unmarshaler.
func (*jobArgs) UnmarshalJSON([]byte) error { return nil }

// worker implements river.Worker.
type worker struct {
	river.WorkerDefaults[jobArgs]
	work driver.Work

	acceptCtx context.Context // canceled when no more attempts may start
	pilot     *pilot
	running   atomic.Int64  // number of attempts
	returned  chan struct{} // receives when an attempt has returned
}

// withHeartbeat runs fn, and renews claims until it returns.
func (k *worker) withHeartbeat(ctx context.Context, interval time.Duration, fn func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewals sync.WaitGroup
	h := &heartbeat{pilot: k.pilot, interval: interval, onError: k.work.OnError}
	renewals.Go(func() { h.run(ctx) })
	fn()
	cancel()
	renewals.Wait()
}

// stop waits for the attempts, and then up to settleTimeout until River has stored their
// outcomes.
func (k *worker) stop(ctx context.Context, client *river.Client[pgx.Tx]) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = client.Stop(ctx) // Stop returns only the error of ctx
	}()
	for k.running.Load() > 0 {
		select {
		case <-k.returned:
		case <-stopped:
			return
		}
	}
	timer := time.NewTimer(settleTimeout)
	defer timer.Stop()
	select {
	case <-stopped:
	case <-timer.C:
		k.work.OnError(ctx, "complete the last attempts",
			errors.New("river: timeout; the jobs run again"))
	}
}

// Work implements river.Worker.
func (k *worker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	k.running.Add(1) // before the check of k.stopping
	defer k.end()
	// River also cancels ctx for reasons that do not apply to the attempt
	attempt, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	a, ok := k.pilot.start(job.ID, cancel)
	if !ok || k.acceptCtx.Err() != nil {
		return river.JobSnooze(0)
	}
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), rivertype.ErrJobCancelledRemotely) { // by an operator
			cancel(ErrLeaseLost)
		}
	})()
	o := k.work.Run(attempt, a)
	switch o.Action {
	case driver.Complete:
		return nil
	case driver.Discard:
		return &outcomeError{text: o.Error, cause: river.JobCancel(nil)}
	case driver.Release:
		return river.JobSnooze(max(o.Wait, 0))
	default:
		job.Args.wait = max(o.Wait, 0)
		return &outcomeError{text: o.Error}
	}
}

func (k *worker) end() {
	k.running.Add(-1)
	select {
	case k.returned <- struct{}{}:
	default:
	}
}

// NextRetry implements river.Worker.
func (*worker) NextRetry(job *river.Job[jobArgs]) time.Time { return time.Now().Add(job.Args.wait) }

// outcomeError is an outcome as an error: River stores its text and handles its cause.
type outcomeError struct {
	text  string
	cause error
}

// Error implements error. PostgreSQL cannot store NUL.
func (e *outcomeError) Error() string { return strings.ReplaceAll(e.text, "\x00", "") }

// Unwrap returns the cause for River.
func (e *outcomeError) Unwrap() error { return e.cause }
