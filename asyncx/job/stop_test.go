package job_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
)

func TestTheStopWaitsForJobsThatRun(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note")
		first, second := enqueue(t, b, k, note{}), enqueue(t, b, k, note{})
		l := b.work(t, job.WithConcurrency(1),
			job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
				<-time.After(20 * time.Second)
				return ctx.Err()
			})))
		pass(time.Second)
		begin := time.Now()
		l.ends(t)
		if took := time.Since(begin); took != 19*time.Second {
			t.Errorf("the stop took %s, want the 19s that the job had left", took)
		}
		if r := b.get(t, second); r.State != job.StateWaiting || r.Attempt != 0 {
			t.Errorf("the job that had not begun is %s with attempt %d, want it to wait",
				r.State, r.Attempt)
		}
		if _, err := b.queue.Get(b.ctx, first); err == nil {
			t.Error("the job that had begun is still there, want it done")
		}
	})
}

func TestWhatTheStopCutsOffIsPutBackWithoutAnAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note", job.WithMaxAttempts(1))
		id := enqueue(t, b, k, note{})
		l := b.work(t, job.WithGracefulStopTimeout(5*time.Second),
			job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
				<-ctx.Done()
				return ctx.Err()
			})))
		pass(time.Second)
		begin := time.Now()
		l.ends(t)
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("the stop took %s, want its timeout of 5s", took)
		}
		r := b.get(t, id)
		if r.State != job.StateWaiting || r.Attempt != 0 || r.RunAt.After(time.Now()) {
			t.Errorf("state, attempt, at = %s, %d, %s; want it to wait for its first attempt, now",
				r.State, r.Attempt, r.RunAt)
		}
		if len(b.log.of(t, "job put back")) != 1 {
			t.Errorf("no line tells of it:\n%s", b.log)
		}
	})
}

func TestWhatSucceedsOrDiesWhileItIsCutOffIsNotPutBack(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note")
		done, dead := enqueue(t, b, k, note{N: 1}), enqueue(t, b, k, note{N: 2})
		l := b.work(t, job.WithGracefulStopTimeout(time.Second),
			job.WithHandlers(k.Handle(func(ctx context.Context, n note) error {
				<-ctx.Done()
				if n.N == 1 {
					return nil
				}
				return job.Dead(errBoom)
			})))
		pass(time.Second)
		l.ends(t)
		if r := b.get(t, dead); r.State != job.StateDead {
			t.Errorf("state = %s, want dead", r.State)
		}
		if _, err := b.queue.Get(b.ctx, done); err == nil {
			t.Error("the job that has succeeded is still there")
		}
	})
}

func TestAHandlerThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note")
		id := enqueue(t, b, k, note{})
		release := make(chan struct{})
		l := b.work(t, job.WithGracefulStopTimeout(5*time.Second),
			job.WithHandlers(k.Handle(func(context.Context, note) error {
				<-release
				return nil
			})))
		pass(time.Second)
		begin := time.Now()
		l.ends(t)
		if took := time.Since(begin); took != 6*time.Second {
			t.Errorf("the stop took %s, want 5s and a second of grace", took)
		}
		r := b.get(t, id)
		if wait := time.Until(r.RunAt); r.State != job.StateWaiting || r.Attempt != 0 ||
			wait != 10*time.Second {
			t.Errorf("state, attempt, wait = %s, %d, %s; want it to wait 10s for its first attempt",
				r.State, r.Attempt, wait)
		}
		if len(b.log.of(t, "job left behind: its handler does not return")) != 1 {
			t.Errorf("no line tells of it:\n%s", b.log)
		}
		close(release)
	})
}

func TestAHandlerThatIgnoresItsTimeoutIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note", job.WithTimeout(time.Minute))
		id := enqueue(t, b, k, note{})
		l := b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
			<-time.After(time.Hour)
			return nil
		})))
		pass(2 * time.Minute)
		if lines := b.log.of(t, "job goes on after its timeout: its handler does not return"); len(
			lines) != 1 || lines[0]["id"] != id {
			t.Errorf("lines = %v, want one with the job", lines)
		}
		if r := b.get(t, id); r.State != job.StateRunning {
			t.Errorf("state = %s, want running: nobody can end a goroutine", r.State)
		}
		pass(time.Hour)
		l.ends(t)
	})
}

func TestAnIdleWorkerStopsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		l := b.work(t, job.WithHandlers(handle[note]("note")))
		pass(time.Minute)
		begin := time.Now()
		l.ends(t)
		if took := time.Since(begin); took != 0 {
			t.Errorf("the stop took %s", took)
		}
	})
}

func TestManyJobsOfTwoWorkersRunOnceEach(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const jobs = 500
		k := job.NewKind[note]("note")
		args := make([]note, jobs)
		for i := range args {
			args[i].N = i
		}
		if _, err := k.EnqueueMany(b.ctx, args); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		seen := map[int]int{}
		var running, peak atomic.Int32
		do := job.WithHandlers(k.Handle(func(_ context.Context, n note) error {
			if r := running.Add(1); r > peak.Load() {
				peak.Store(r)
			}
			<-time.After(time.Millisecond)
			running.Add(-1)
			mu.Lock()
			defer mu.Unlock()
			seen[n.N]++
			return nil
		}))
		first := b.work(t, do, job.WithConcurrency(7))
		second := onStoreOf(t, b).work(t, do, job.WithConcurrency(7))
		pass(time.Minute)
		first.ends(t)
		second.ends(t)
		if len(seen) != jobs || peak.Load() > 14 {
			t.Errorf("%d jobs ran, at most %d at once; want %d and 14",
				len(seen), peak.Load(), jobs)
		}
		for n, times := range seen {
			if times != 1 {
				t.Errorf("job %d ran %d times", n, times)
			}
		}
	})
}

func TestAnOutageIsToldOnceInAWhileAndRiddenOut(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note")
		id := enqueue(t, b, k, note{}, job.WithDelay(time.Minute))
		b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error { return nil })))
		synctest.Wait()
		b.store.SetDown(true)
		pass(65 * time.Second)
		b.store.SetDown(false)
		lines := b.log.of(t, "the queue does not answer")
		if len(lines) < 6 || len(lines) > 8 || lines[1]["unreported"] != 9.0 {
			t.Errorf("%d lines tell of an outage of 65s, want one in 10s: %v", len(lines), lines)
		}
		pass(time.Minute)
		if _, err := b.queue.Get(b.ctx, id); err == nil {
			t.Error("the job did not run after the outage")
		}
	})
}

func TestAnAttemptThatWasLostEnds(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note")
		enqueue(t, b, k, note{})
		var ended time.Duration
		l := b.work(t, job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
			begin := time.Now()
			<-ctx.Done()
			ended = time.Since(begin)
			return ctx.Err()
		})))
		synctest.Wait()
		b.engine.SetAway(true)
		pass(time.Minute)
		if ended == 0 || ended > 2*memory.TakeoverTimeout {
			t.Errorf("the context of a lost attempt ended after %s", ended)
		}
		if len(b.log.of(t, "job lost: it may be another worker's by now")) != 1 ||
			len(b.log.of(t, "job failed")) != 0 {
			t.Errorf("the log does not say that the job was lost, or tells of an outcome that does not count:\n%s", b.log)
		}
		l.ends(t)
	})
}
