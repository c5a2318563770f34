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

func TestWork_Shutdown(t *testing.T) {
	t.Run("waits for running jobs", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note")
			first, second := enqueue(t, b, k, note{}), enqueue(t, b, k, note{})
			l := b.work(t, job.WithConcurrency(1),
				job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
					<-time.After(20 * time.Second)
					return ctx.Err()
				})))
			sleep(time.Second)
			start := time.Now()
			l.stopAndWait(t)
			if elapsed := time.Since(start); elapsed != 19*time.Second {
				t.Errorf("shutdown took %s, want the remaining 19s of the job", elapsed)
			}
			if r := b.get(t, second); r.State != job.StateWaiting || r.Attempt != 0 {
				t.Errorf("the job that never ran is %s with attempt %d, want it waiting",
					r.State, r.Attempt)
			}
			if _, err := b.queue.Get(b.ctx, first); err == nil {
				t.Error("the running job still exists, want it completed")
			}
		})
	})

	t.Run("releases canceled jobs without using an attempt", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(1))
			id := enqueue(t, b, k, note{})
			l := b.work(t, job.WithGracefulStopTimeout(5*time.Second),
				job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
					<-ctx.Done()
					return ctx.Err()
				})))
			sleep(time.Second)
			start := time.Now()
			l.stopAndWait(t)
			if elapsed := time.Since(start); elapsed != 5*time.Second {
				t.Errorf("shutdown took %s, want its timeout of 5s", elapsed)
			}
			r := b.get(t, id)
			if r.State != job.StateWaiting || r.Attempt != 0 || r.RunAt.After(time.Now()) {
				t.Errorf("state, attempt, RunAt = %s, %d, %s; want waiting, 0, now",
					r.State, r.Attempt, r.RunAt)
			}
			if len(b.log.withMessage(t, "job released")) != 1 {
				t.Errorf("no log message:\n%s", b.log)
			}
		})
	})

	t.Run("stores the outcome of a canceled job that finishes", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
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
			sleep(time.Second)
			l.stopAndWait(t)
			if r := b.get(t, dead); r.State != job.StateDead {
				t.Errorf("state = %s, want dead", r.State)
			}
			if _, err := b.queue.Get(b.ctx, done); err == nil {
				t.Error("the successful job still exists")
			}
		})
	})

	t.Run("abandons a handler that ignores its context", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note")
			id := enqueue(t, b, k, note{})
			release := make(chan struct{})
			l := b.work(t, job.WithGracefulStopTimeout(5*time.Second),
				job.WithHandlers(k.Handle(func(context.Context, note) error {
					<-release
					return nil
				})))
			sleep(time.Second)
			start := time.Now()
			l.stopAndWait(t)
			if elapsed := time.Since(start); elapsed != 6*time.Second {
				t.Errorf("shutdown took %s, want 5s plus 1s", elapsed)
			}
			r := b.get(t, id)
			if wait := time.Until(r.RunAt); r.State != job.StateWaiting || r.Attempt != 0 ||
				wait != 10*time.Second {
				t.Errorf("state, attempt, wait = %s, %d, %s; want waiting, 0, 10s",
					r.State, r.Attempt, wait)
			}
			if len(b.log.withMessage(t, "job abandoned: handler did not return")) != 1 {
				t.Errorf("no log message:\n%s", b.log)
			}
			close(release)
		})
	})

	t.Run("stops an idle worker immediately", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			l := b.work(t, job.WithHandlers(handle[note]("note")))
			sleep(time.Minute)
			start := time.Now()
			l.stopAndWait(t)
			if elapsed := time.Since(start); elapsed != 0 {
				t.Errorf("shutdown took %s", elapsed)
			}
		})
	})
}

func TestWork_Timeout(t *testing.T) {
	withFakeClock(t, func(t *testing.T, b *fixture) {
		k := job.NewKind[note]("note", job.WithTimeout(time.Minute))
		id := enqueue(t, b, k, note{})
		l := b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
			<-time.After(time.Hour)
			return nil
		})))
		sleep(2 * time.Minute)
		if lines := b.log.withMessage(t, "handler still running after its timeout"); len(
			lines) != 1 || lines[0]["id"] != id {
			t.Errorf("lines = %v, want 1 with the job", lines)
		}
		if r := b.get(t, id); r.State != job.StateRunning {
			t.Errorf("state = %s, want running", r.State)
		}
		sleep(time.Hour)
		l.stopAndWait(t)
	})
}

func TestWork_Concurrency(t *testing.T) {
	withFakeClock(t, func(t *testing.T, b *fixture) {
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
		second := newReplica(t, b).work(t, do, job.WithConcurrency(7))
		sleep(time.Minute)
		first.stopAndWait(t)
		second.stopAndWait(t)
		if len(seen) != jobs || peak.Load() > 14 {
			t.Errorf("%d jobs ran, at most %d concurrently; want %d and 14",
				len(seen), peak.Load(), jobs)
		}
		for n, times := range seen {
			if times != 1 {
				t.Errorf("job %d ran %d times", n, times)
			}
		}
	})
}

func TestWork_Outage(t *testing.T) {
	withFakeClock(t, func(t *testing.T, b *fixture) {
		k := job.NewKind[note]("note")
		id := enqueue(t, b, k, note{}, job.WithDelay(time.Minute))
		b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error { return nil })))
		synctest.Wait()
		b.store.SetDown(true)
		sleep(65 * time.Second)
		b.store.SetDown(false)
		lines := b.log.withMessage(t, "queue operation failed")
		if len(lines) < 6 || len(lines) > 8 || lines[1]["unreported"] != 9.0 {
			t.Errorf("%d log messages in an outage of 65s, want 1 per 10s: %v", len(lines), lines)
		}
		sleep(time.Minute)
		if _, err := b.queue.Get(b.ctx, id); err == nil {
			t.Error("the job did not run after the outage")
		}
	})
}

func TestWork_LostAttempt(t *testing.T) {
	withFakeClock(t, func(t *testing.T, b *fixture) {
		k := job.NewKind[note]("note")
		enqueue(t, b, k, note{})
		var canceledAfter time.Duration
		l := b.work(t, job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
			start := time.Now()
			<-ctx.Done()
			canceledAfter = time.Since(start)
			return ctx.Err()
		})))
		synctest.Wait()
		b.engine.SetAway(true)
		sleep(time.Minute)
		if canceledAfter == 0 || canceledAfter > 2*memory.TakeoverTimeout {
			t.Errorf("the context of a lost attempt was canceled after %s", canceledAfter)
		}
		if len(b.log.withMessage(t, "job lost: possibly reassigned")) != 1 ||
			len(b.log.withMessage(t, "job failed")) != 0 {
			t.Errorf("the log does not report the lost job, or reports its ignored outcome:\n%s",
				b.log)
		}
		l.stopAndWait(t)
	})
}
