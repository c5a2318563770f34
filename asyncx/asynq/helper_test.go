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

// some returns n jobs.
func some(n int, change ...func(j *driver.Job)) []driver.Job {
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

// work lets an engine work until the test ends, or stop is called.
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

// collect returns work that succeeds, and the attempts.
func collect(kinds ...string) (driver.Work, chan driver.Attempt) {
	begun := make(chan driver.Attempt, 10_000)
	return driver.Work{
		Kinds: kinds, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: func(context.Context, string, error) {},
		Run: func(_ context.Context, a driver.Attempt) driver.Outcome {
			begun <- a
			return driver.Outcome{}
		},
	}, begun
}

func noFailure(t *testing.T) func(context.Context, string, error) {
	t.Helper()
	return func(_ context.Context, what string, err error) { t.Logf("failed: %s: %v", what, err) }
}

// next waits for an attempt.
func next(t *testing.T, begun <-chan driver.Attempt) driver.Attempt {
	t.Helper()
	select {
	case a := <-begun:
		return a
	case <-time.After(20 * time.Second):
		t.Fatal("no attempt has begun")
		return driver.Attempt{}
	}
}

// none fails the test where an attempt begins.
func none(t *testing.T, begun <-chan driver.Attempt, why string) {
	t.Helper()
	select {
	case a := <-begun:
		t.Errorf("an attempt at a job of %s has begun, %s", a.Kind, why)
	case <-time.After(500 * time.Millisecond):
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); pass(20 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// gone reports whether a job is done and forgotten.
func gone(ctx context.Context, e driver.Engine, id string) bool {
	_, err := e.Get(ctx, id)
	return errors.Is(err, driver.ErrNotFound)
}

// pass lets real time go by.
func pass(d time.Duration) { <-time.After(d) }
