package asynq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

const (
	// forwardInterval is the maximum interval between checks for due jobs.
	forwardInterval = 5 * time.Second
	// cleanupInterval is the interval between deletions of expired completed jobs.
	cleanupInterval = time.Minute
	// settleTimeout is how long shutdown waits for asynq's server after the last attempt.
	settleTimeout = 5 * time.Second
	// dequeueTimeout is the timeout of asynq's first dequeue.
	dequeueTimeout = 30 * time.Second
	// dequeueInterval is asynq's pause between two dequeues. Instead, the client waits
	// for Work.PollInterval or a notification.
	dequeueInterval = time.Millisecond
	// noShutdownTimeout disables asynq's shutdown timeout, because package job cancels
	// attempts.
	noShutdownTimeout = 1000 * time.Hour
)

// workerCrashed is the stored error of a job whose worker crashed, after TakenOver was
// set.
const workerCrashed = "the worker of the last attempt crashed"

var errUnknown = errors.New("asynq: unsupported release of asynq; use v0.26.0, as in go.mod")

// worker is a running call of Work.
type worker struct {
	driver.Work

	engine     *engine
	running    running
	newContext func() context.Context // returns the context of an attempt
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, w driver.Work) error {
	switch err := e.open(ctx); {
	case errors.Is(err, driver.ErrClosed):
		return err
	case err != nil:
		return nil // canceled before the start
	}
	values := context.WithoutCancel(ctx)
	k := &worker{Work: w, engine: e, newContext: func() context.Context { return values }}
	c, cancel := newClient(ctx, k)
	defer cancel()
	wake, leave := e.workers.Listen()
	defer leave()
	c.wake = wake
	server := asynq.NewServerFromRedisClient(c, asynq.Config{
		Concurrency: w.Concurrency, Queues: e.names.weights(w.Kinds), StrictPriority: true,
		BaseContext: k.newContext,

		TaskCheckInterval:        dequeueInterval,
		DelayedTaskCheckInterval: min(w.PollInterval, forwardInterval),
		JanitorInterval:          cleanupInterval,
		ShutdownTimeout:          noShutdownTimeout,

		RetryDelayFunc: retryDelay, IsFailure: isFailure,
		Logger: &logger{ctx: values, onError: w.OnError}, LogLevel: asynq.WarnLevel,
	})
	if err := server.Start(k); err != nil {
		return fmt.Errorf("asynq: work: %w", err)
	}
	err := c.awaitDequeue(ctx)
	if err == nil {
		<-ctx.Done()
	}
	server.Stop()
	k.running.add(0)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.Shutdown()
	}()
	k.settle(stopped, cancel)
	return err
}

// settle waits until asynq has stopped and no attempt is running, because asynq does not
// wait for attempts with an expired lease. It cancels commands that are still pending
// settleTimeout after the last attempt.
func (w *worker) settle(stopped <-chan struct{}, cancelCommands func()) {
	ticker := time.NewTicker(settleTimeout / 20)
	defer ticker.Stop()
	for idle := false; stopped != nil || !idle; {
		select {
		case <-stopped:
			stopped = nil
		case <-ticker.C:
		}
		var since time.Time
		if since, idle = w.running.idle(); idle && time.Since(since) > settleTimeout {
			cancelCommands()
		}
	}
}

// running counts running attempts.
type running struct {
	mu    sync.Mutex
	n     int
	since time.Time // time of the last change
}

func (r *running) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.since = r.n+n, time.Now()
}

// idle reports whether no attempt is running, and since when.
func (r *running) idle() (since time.Time, idle bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.n == 0
}

// weights returns all queues of the kinds with asynq's weights.
func (n names) weights(kinds []string) map[string]int {
	weights := map[string]int{}
	for _, kind := range kinds {
		for p := driver.MinPriority; p <= driver.MaxPriority; p++ {
			weights[n.queue(kind, p)] = driver.MaxPriority + 1 - p
		}
	}
	return weights
}

// ProcessTask implements asynq.Handler.
func (w *worker) ProcessTask(task context.Context, t *asynq.Task) error {
	w.running.add(1)
	defer w.running.add(-1)
	id, _ := asynq.GetTaskID(task)
	queue, _ := asynq.GetQueueName(task)
	failures, _ := asynq.GetRetryCount(task)
	ctx, cancel := context.WithCancelCause(w.newContext())
	defer cancel(nil)
	defer context.AfterFunc(task, func() { cancel(ErrLeaseLost) })()
	last := ""
	if failures > 0 {
		last = w.lastError(task, queue, id)
	}
	crashed := last == asynq.ErrLeaseExpired.Error()
	// ctx has the values of Work's context, but not asynq's deadline
	o := w.Run(ctx, driver.Attempt{
		Job:    w.engine.names.jobOf(id, queue, t.Type(), t.Payload(), t.Headers()),
		Number: failures + 1, CreatedAt: timeOf(t.Headers(), headerCreated), TakenOver: crashed,
	})
	switch {
	case o.Action == driver.Complete:
		return nil
	case o.Action == driver.Release && crashed:
		o.Error = workerCrashed // so that the next attempt is not TakenOver
	case o.Action == driver.Release && failures > 0:
		o.Error = last
	case o.Action == driver.Release:
		o.Error = ""
	}
	return &outcome{o}
}

// lastError returns the stored error of the job. asynq replaces it after each attempt,
// and stores asynq.ErrLeaseExpired after a crash of the worker.
func (w *worker) lastError(ctx context.Context, queue, id string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	info, err := taskInfo(ctx, w.engine.client, queue, id)
	if err != nil {
		return ""
	}
	return info.LastErr
}

// outcome converts an outcome to an error for asynq.
type outcome struct{ driver.Outcome }

// Error returns the stored error. asynq stores only valid UTF-8.
func (v *outcome) Error() string { return strings.ToValidUTF8(v.Outcome.Error, "\uFFFD") }

// Unwrap returns asynq.SkipRetry if the job must be archived.
func (v *outcome) Unwrap() error {
	if v.Action == driver.Discard {
		return asynq.SkipRetry
	}
	return nil
}

// retryDelay returns the time until the next attempt, 0 after a worker crash.
func retryDelay(_ int, err error, _ *asynq.Task) time.Duration {
	var v *outcome
	if !errors.As(err, &v) || v.Wait <= 0 {
		return 0
	}
	return v.Wait + time.Second - 1 // asynq truncates to seconds
}

// isFailure reports whether asynq counts the attempt.
func isFailure(err error) bool {
	var v *outcome
	return !errors.As(err, &v) || v.Action != driver.Release
}
