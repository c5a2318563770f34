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
	// forwardEvery is how often, at least, jobs are moved whose time has come.
	forwardEvery = 5 * time.Second
	// cleanEvery is how often jobs are forgotten that are done.
	cleanEvery = time.Minute
	// settleTime is how long the stop waits for the server once all attempts have ended.
	settleTime = 5 * time.Second
	// lookTime is how long asynq takes to look for a first job.
	lookTime = 30 * time.Second
	// lookPause is asynq's own pause between two looks; link makes that of Work.PollInterval,
	// which can be cut short.
	lookPause = time.Millisecond
	// noAbort is how long asynq waits at the stop before it puts jobs back that run:
	// package job is who ends them.
	noAbort = 1000 * time.Hour
)

// workerDied is kept with a job whose worker died, once that has been told.
const workerDied = "the worker of the last attempt died"

var errUnknown = errors.New("asynq: this release of asynq works in another way: use v0.26.0, which go.mod names")

// worker is a call of Work.
type worker struct {
	driver.Work

	engine  *engine
	running running
	begin   func() context.Context // of an attempt
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, w driver.Work) error {
	switch err := e.open(ctx); {
	case errors.Is(err, driver.ErrClosed):
		return err
	case err != nil:
		return nil // the stop came before the beginning
	}
	values := context.WithoutCancel(ctx)
	k := &worker{Work: w, engine: e, begin: func() context.Context { return values }}
	l, end := newLink(ctx, k)
	defer end()
	wake, leave := e.wakes.Listen()
	defer leave()
	l.wake = wake
	server := asynq.NewServerFromRedisClient(l, asynq.Config{
		Concurrency: w.Concurrency, Queues: e.names.weights(w.Kinds), StrictPriority: true,
		BaseContext:       k.begin,
		TaskCheckInterval: lookPause, DelayedTaskCheckInterval: min(w.PollInterval, forwardEvery),
		JanitorInterval: cleanEvery,
		RetryDelayFunc:  waitOf, IsFailure: isFailure, ShutdownTimeout: noAbort,
		Logger: &logger{ctx: values, failed: w.OnError}, LogLevel: asynq.WarnLevel,
	})
	if err := server.Start(k); err != nil {
		return fmt.Errorf("asynq: work: %w", err)
	}
	err := l.awaitLook(ctx)
	if err == nil {
		<-ctx.Done()
	}
	server.Stop()
	k.running.add(0)
	over := make(chan struct{})
	go func() {
		defer close(over)
		server.Shutdown()
	}()
	k.settle(over, end)
	return err
}

// settle waits until asynq is over and no attempt runs: for one whose lease has expired
// asynq does not wait. What the server does not take in time, once all attempts have
// ended, is given up with end.
func (w *worker) settle(over <-chan struct{}, end func()) {
	ticker := time.NewTicker(settleTime / 20)
	defer ticker.Stop()
	for none := false; over != nil || !none; {
		select {
		case <-over:
			over = nil
		case <-ticker.C:
		}
		var since time.Time
		if since, none = w.running.none(); none && time.Since(since) > settleTime {
			end()
		}
	}
}

// running counts attempts.
type running struct {
	mu    sync.Mutex
	n     int
	since time.Time // of the last change
}

func (r *running) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.since = r.n+n, time.Now()
}

// none reports whether there is none, and since when.
func (r *running) none() (since time.Time, none bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.n == 0
}

// weights returns all queues of the kinds, as asynq weighs them.
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
	ctx, cancel := context.WithCancelCause(w.begin())
	defer cancel(nil)
	defer context.AfterFunc(task, func() { cancel(ErrTaken) })()
	last := ""
	if failures > 0 {
		last = w.lastError(task, queue, id)
	}
	died := last == asynq.ErrLeaseExpired.Error()
	o := w.Run(ctx, driver.Attempt{ // it has the values of Work, and no deadline of asynq's
		Job:    w.engine.names.jobOf(id, queue, t.Type(), t.Payload(), t.Headers()),
		Number: failures + 1, CreatedAt: timeOf(t.Headers(), headerCreated), TakenOver: died,
	})
	switch {
	case o.Action == driver.Complete:
		return nil
	case o.Action == driver.Release && died:
		o.Error = workerDied // so that it is said once
	case o.Action == driver.Release && failures > 0:
		o.Error = last
	case o.Action == driver.Release:
		o.Error = ""
	}
	return &verdict{o}
}

// lastError returns what is kept with the job. asynq would replace it, and says there
// that a worker died.
func (w *worker) lastError(ctx context.Context, queue, id string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	info, err := taskInfo(ctx, w.engine.client, queue, id)
	if err != nil {
		return ""
	}
	return info.LastErr
}

// verdict is an outcome as asynq understands it.
type verdict struct{ driver.Outcome }

// Error implements error with the text that is kept. asynq stores no text that is not
// UTF-8.
func (v *verdict) Error() string { return strings.ToValidUTF8(v.Outcome.Error, "\uFFFD") }

// Unwrap says whether the job is dead.
func (v *verdict) Unwrap() error {
	if v.Action == driver.Discard {
		return asynq.SkipRetry
	}
	return nil
}

// waitOf returns the time until the next attempt; after the death of a worker there is
// none.
func waitOf(_ int, err error, _ *asynq.Task) time.Duration {
	var v *verdict
	if !errors.As(err, &v) || v.Wait <= 0 {
		return 0
	}
	return v.Wait + time.Second - 1 // asynq drops what is below a second
}

// isFailure says whether the attempt is used up.
func isFailure(err error) bool {
	var v *verdict
	return !errors.As(err, &v) || v.Action != driver.Release
}
