package asynq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xutil"
)

const testKind = "test.kind"

// newJobs returns n jobs, each modified by change.
func newJobs(n int, change ...func(j *driver.Job)) []driver.Job {
	all := make([]driver.Job, n)
	for i := range all {
		all[i] = driver.Job{
			ID: xutil.UUID().V7(), Kind: testKind, Args: []byte(`{"user":123}`),
			Priority: 3, MaxAttempts: 3,
		}
		for _, c := range change {
			c(&all[i])
		}
	}
	return all
}

func ofKind(name string) func(j *driver.Job) { return func(j *driver.Job) { j.Kind = name } }

// work runs an engine until stop is called or the test finishes.
func work(t *testing.T, ctx context.Context, e driver.Engine, w driver.Work) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Work(ctx, w); err != nil {
			t.Errorf("Work = %v, want nil", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// collect returns a Work that succeeds, and a channel of its attempts.
func collect(kinds ...string) (driver.Work, chan driver.Attempt) {
	started := make(chan driver.Attempt, 10_000)
	return driver.Work{
		Kinds: kinds, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: func(context.Context, string, error) {},
		Run: func(_ context.Context, a driver.Attempt) driver.Outcome {
			started <- a
			return driver.Outcome{}
		},
	}, started
}

// logErrors returns a Work.OnError that logs errors.
func logErrors(t *testing.T) func(context.Context, string, error) {
	t.Helper()
	return func(_ context.Context, operation string, err error) {
		t.Logf("OnError: %s: %v", operation, err)
	}
}

// next waits for an attempt.
func next(t *testing.T, started <-chan driver.Attempt) driver.Attempt {
	t.Helper()
	select {
	case a := <-started:
		return a
	case <-time.After(20 * time.Second):
		t.Fatal("no attempt started")
		return driver.Attempt{}
	}
}

// wantIdle fails the test if an attempt starts.
func wantIdle(t *testing.T, started <-chan driver.Attempt, why string) {
	t.Helper()
	select {
	case a := <-started:
		t.Errorf("an attempt of a job of kind %s started %s", a.Kind, why)
	case <-time.After(500 * time.Millisecond):
	}
}

// eventually waits until ok returns true.
func eventually(t *testing.T, condition string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); sleep(20 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatalf("condition not met: %s", condition)
		}
	}
}

// deleted reports whether a completed job was deleted.
func deleted(ctx context.Context, e driver.Engine, id string) bool {
	_, err := e.Get(ctx, id)
	return errors.Is(err, driver.ErrNotFound)
}

// sleep waits in real time.
func sleep(d time.Duration) { <-time.After(d) }
