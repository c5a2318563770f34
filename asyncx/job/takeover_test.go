package job_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestWork_Takeover(t *testing.T) {
	t.Run("waits before the next attempt", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note",
				job.WithMaxAttempts(2), job.WithBackoff(backoff.Schedule(time.Hour, 24*time.Hour)))
			var all []string
			for range 5 {
				all = append(all, enqueue(t, b, k, note{}))
			}
			var mu sync.Mutex
			var started []int
			handle := func(ctx context.Context, _ note) error {
				info, _ := job.InfoFrom(ctx)
				mu.Lock()
				started = append(started, info.Attempt)
				mu.Unlock()
				if info.Attempt == 1 {
					<-ctx.Done()
				}
				return nil
			}
			l := b.work(t, job.WithHandlers(k.Handle(handle)))
			sleep(time.Second)
			b.engine.SetAway(true)
			other := newReplica(t, b)
			other.work(t, job.WithHandlers(k.Handle(handle)))
			sleep(10 * time.Second)
			waits := map[time.Duration]bool{}
			for _, id := range all {
				r := other.get(t, id)
				if r.State != job.StateWaiting || r.Attempt != 1 {
					t.Errorf("state, attempt = %s, %d; want it waiting with 1 attempt",
						r.State, r.Attempt)
				}
				wait := time.Until(r.RunAt).Round(time.Second)
				if waits[wait] = true; wait < 30*time.Minute-10*time.Second ||
					wait > 90*time.Minute {
					t.Errorf("a job waits for %s, want half to one and a half of the backoff of 1h",
						wait)
				}
			}
			if len(waits) == 1 {
				t.Errorf("all jobs wait for %v, want different waits", waits)
			}
			if lines := other.log.withMessage(t, "job delayed: worker crashed"); len(lines) != 5 ||
				lines[0]["attempt"] != 1.0 {
				t.Errorf("lines = %v, want 1 per job", lines)
			}
			sleep(3 * time.Hour)
			if len(started) != 10 || started[9] != 2 {
				t.Errorf("attempts = %v, want the first and the second of each", started)
			}
			l.stopAndWait(t)
		})
	})

	// Six slow jobs run concurrently with the job that crashes its process.
	t.Run("dead-letters only the job that crashes its process", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			slow, poison := job.NewKind[note]("slow"), job.NewKind[note]("poison")
			var other []string
			for range 6 {
				other = append(other, enqueue(t, b, slow, note{}))
			}
			id := enqueue(t, b, poison, note{})
			watcher := newReplica(t, b)
			for crashes := 0; ; crashes++ {
				r := newReplica(t, b)
				crashed := make(chan struct{}, 9)
				l := r.work(t, job.WithHandlers(
					slow.Handle(func(ctx context.Context, _ note) error {
						select {
						case <-time.After(5 * time.Second):
						case <-ctx.Done():
						}
						return ctx.Err()
					}),
					poison.Handle(func(ctx context.Context, _ note) error {
						<-time.After(time.Second)
						r.engine.SetAway(true)
						crashed <- struct{}{}
						<-ctx.Done()
						return ctx.Err()
					}),
				))
				dead := false
				for !dead && len(crashed) == 0 {
					sleep(10 * time.Second)
					dead = watcher.get(t, id).State == job.StateDead
				}
				l.stopAndWait(t)
				if !dead {
					continue
				}
				if crashes != 25 {
					t.Errorf("%d processes crashed, want %d", crashes, 25)
				}
				break
			}
			for _, id := range other {
				if r, err := watcher.queue.Get(b.ctx, id); !errors.Is(err, job.ErrNotFound) {
					t.Errorf("another job is %s after %d attempts, want it done",
						r.State, r.Attempt)
				}
			}
		})
	})
}

// spy is an engine that records the argument of Work.
type spy struct {
	driver.Engine
	work   driver.Work
	onWork func(ctx context.Context, w driver.Work)
}

// Work implements driver.Engine.
func (s *spy) Work(ctx context.Context, w driver.Work) error {
	s.work = w
	if s.onWork != nil {
		s.onWork(ctx, w)
	}
	return nil
}

func TestWork_Engine(t *testing.T) {
	t.Run("passes the maximum attempt duration", func(t *testing.T) {
		b := newFixture(t)
		s := &spy{Engine: b.engine}
		short := job.NewKind[note]("short", job.WithTimeout(time.Second))
		long := job.NewKind[note]("long", job.WithTimeout(time.Hour))
		err := job.Work(context.WithValue(b.ctx, xctx.JobQueueKey, job.NewQueue(s)),
			job.WithLogger(b.logger), job.WithHandlers(
				short.Handle(func(context.Context, note) error { return nil }),
				long.Handle(func(context.Context, note) error { return nil }),
			))
		if want := time.Hour + time.Second; err != nil || s.work.MaxDuration != want {
			t.Errorf("MaxDuration = %s, %v; want %s", s.work.MaxDuration, err, want)
		}
	})

	t.Run("logs each ignored outcome", func(t *testing.T) {
		b := newFixture(t)
		s := &spy{Engine: b.engine, onWork: func(ctx context.Context, w driver.Work) {
			w.OnError(ctx, "claim", errBoom)
			for n := range 3 {
				a := driver.Attempt{Job: driver.Job{ID: "an id", Kind: "note"}, Number: n + 1}
				w.OnLost(ctx, a, errBoom)
			}
		}}
		ctx := context.WithValue(b.ctx, xctx.JobQueueKey, job.NewQueue(s))
		if err := job.Work(ctx, job.WithLogger(b.logger),
			job.WithHandlers(handle[note]("note"))); err != nil {
			t.Fatal(err)
		}
		lines := b.log.withMessage(t, "job lost: outcome ignored")
		if len(lines) != 3 || lines[2]["kind"] != "note" || lines[2]["id"] != "an id" ||
			lines[2]["attempt"] != 3.0 || lines[2]["cause"] != "boom" {
			t.Errorf("lines = %v, want 3 with their jobs", lines)
		}
	})
}

func TestNew_Applications(t *testing.T) {
	var ran []string
	k := job.NewKind[note]("note")
	task := job.New(job.WithHandlers(k.Handle(func(_ context.Context, n note) error {
		ran = append(ran, n.Text)
		return nil
	})))
	for _, name := range []string{"first", "second"} {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			enqueue(t, b, k, note{Text: name})
			ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
			defer cancel()
			task(ctx)
		})
	}
	if len(ran) != 2 || ran[1] != "second" {
		t.Errorf("the jobs %v ran, want those of both applications", ran)
	}
}

func TestQueue_InvalidID(t *testing.T) {
	b := newFixture(t)
	b.store.SetDown(true) // a call of the engine would return ErrAway
	for _, id := range []string{
		"", "\x00", "\xff", "nonsense",
		"0192F0C1-7B1E-7D5E-9C1A-3C6F5E0A1B2C", "0192f0c1-7b1e-7d5e-9c1a-3c6f5e0a1b2c\n",
	} {
		_, err := b.queue.Get(b.ctx, id)
		for method, err := range map[string]error{
			"Get": err, "Replay": b.queue.Replay(b.ctx, id), "Delete": b.queue.Delete(b.ctx, id),
		} {
			if !errors.Is(err, job.ErrNotFound) {
				t.Errorf("%s(%q) = %v, want %v", method, id, err, job.ErrNotFound)
			}
		}
	}
	for _, q := range []job.Query{
		{Kind: "\x00"},
		{Kind: "Note"},
		{After: "\xff"},
		{After: "nonsense"},
	} {
		q.State = job.StateWaiting
		if _, err := b.queue.List(b.ctx, q); !errors.Is(err, job.ErrOption) {
			t.Errorf("List(%+v) = %v, want %v", q, err, job.ErrOption)
		}
	}
}
