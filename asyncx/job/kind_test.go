package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xerror"
)

func TestNewKind(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func()
		want string
	}{
		{name: "empty name", make: func() { job.NewKind[note]("") }, want: "1 to 100 characters"},
		{
			name: "capital letter", make: func() { job.NewKind[note]("Note") },
			want: "1 to 100 characters",
		},
		{name: "space", make: func() { job.NewKind[note]("a b") }, want: "1 to 100 characters"},
		{
			name: "leading dot", make: func() { job.NewKind[note](".a") },
			want: "1 to 100 characters",
		},
		{
			name: "newline", make: func() { job.NewKind[note]("a\n") },
			want: "1 to 100 characters",
		},
		{
			name: "long name", make: func() { job.NewKind[note](strings.Repeat("a", 101)) },
			want: "1 to 100 characters",
		},
		{
			name: "priority 0", make: func() { job.NewKind[note]("a", job.WithPriority(0)) },
			want: "invalid priority 0",
		},
		{
			name: "priority 5", make: func() { job.NewKind[note]("a", job.WithPriority(5)) },
			want: "invalid priority 5",
		},
		{
			name: "no attempts", make: func() { job.NewKind[note]("a", job.WithMaxAttempts(0)) },
			want: "0 attempts",
		},
		{
			name: "zero timeout", make: func() { job.NewKind[note]("a", job.WithTimeout(0)) },
			want: "timeout 0s",
		},
		{
			name: "nil backoff", make: func() { job.NewKind[note]("a", job.WithBackoff(nil)) },
			want: "the backoff is nil",
		},
		{
			name: "nil handler", make: func() { job.NewKind[note]("a").Handle(nil) },
			want: "the handler is nil",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.HasPrefix(err.Error(),
					"job: kind ") || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("panic = %v, want %s", err, tc.want)
				}
			}()
			tc.make()
		})
	}
	job.NewKind[note](strings.Repeat("a", 100))
	job.NewKind[note]("0.a_b-c")
}

func TestWork(t *testing.T) {
	t.Run("reports every invalid option", func(t *testing.T) {
		k := job.NewKind[note]("twice")
		h := k.Handle(func(context.Context, note) error { return nil })
		b := newFixture(t)
		err := job.Work(b.ctx, nil, job.WithHandlers(h, h, job.Handler{}), job.WithConcurrency(0),
			job.WithPollInterval(0), job.WithGracefulStopTimeout(-time.Second))
		if !errors.Is(err, job.ErrOption) {
			t.Fatalf("Work = %v, want %v", err, job.ErrOption)
		}
		for _, want := range []string{
			"the kind twice has two handlers", "create it with Kind.Handle", "WithConcurrency: 0",
			"WithPollInterval: 0s",
			"WithGracefulStopTimeout: -1s",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Work = %v, want an error that contains %q", err, want)
			}
		}
		if err := job.Work(b.ctx); !errors.Is(err, job.ErrOption) ||
			!strings.Contains(err.Error(), "add WithHandlers") {
			t.Errorf("Work without handlers = %v", err)
		}
		if err := job.Work(t.Context(),
			job.WithHandlers(h)); xerror.From(err).GetErrorCode() != xerror.ConfigError {
			t.Errorf("Work without a queue = %v, want an error that names the node", err)
		}
	})

	t.Run("reports a startup error", func(t *testing.T) {
		b := newFixture(t)
		if err := b.queue.Close(); err != nil {
			t.Fatal(err)
		}
		if err := job.Work(b.ctx, job.WithHandlers(handle[note]("note")),
			job.WithLogger(b.logger)); !errors.Is(err, job.ErrClosed) {
			t.Errorf("Work = %v, want %v", err, job.ErrClosed)
		}
		// outside an application
		job.New(job.WithHandlers(handle[note]("note")), job.WithLogger(b.logger))(b.ctx)
		if lines := b.log.withMessage(t, "worker failed"); len(lines) != 1 ||
			!strings.Contains(lines[0]["error"].(string), "closed") {
			t.Errorf("lines = %v, want the failure", lines)
		}
	})
}

func TestQueue(t *testing.T) {
	t.Run("lists, replays and deletes a dead job", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(1))
			id, other := enqueue(t, b, k, note{N: 1}), enqueue(t, b, k, note{N: 2})
			broken := true
			b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
				if broken {
					return errBoom
				}
				return nil
			})))
			sleep(time.Minute)
			dead, err := b.queue.List(b.ctx, job.Query{State: job.StateDead, Kind: "note"})
			if err != nil || len(dead) != 2 || dead[0].ID != id || dead[0].Error != "boom" {
				t.Fatalf("List = %v, %v; want 2 dead jobs", dead, err)
			}
			broken = false
			if err := b.queue.Replay(b.ctx, id); err != nil {
				t.Fatalf("Replay: %v", err)
			}
			if err := b.queue.Replay(b.ctx, id); !errors.Is(err, job.ErrState) {
				t.Errorf("the second Replay = %v, want %v", err, job.ErrState)
			}
			sleep(time.Minute)
			if _, err := b.queue.Get(b.ctx, id); !errors.Is(err, job.ErrNotFound) {
				t.Errorf("Get of a completed job = %v, want %v", err, job.ErrNotFound)
			}
			if err := b.queue.Delete(b.ctx, other); err != nil {
				t.Errorf("Delete: %v", err)
			}
			if err := b.queue.Delete(b.ctx, other); !errors.Is(err, job.ErrNotFound) ||
				!strings.HasPrefix(err.Error(), "job: delete: ") {
				t.Errorf("the second Delete = %v, want %v", err, job.ErrNotFound)
			}
		})
	})

	t.Run("replays all dead jobs", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(1))
			if _, err := k.EnqueueMany(b.ctx, make([]note, 250)); err != nil {
				t.Fatal(err)
			}
			broken, done := true, 0
			b.work(t, job.WithConcurrency(1),
				job.WithHandlers(k.Handle(func(context.Context, note) error {
					if broken {
						return errBoom
					}
					done++
					return nil
				})))
			sleep(time.Hour)
			broken = false
			if err := replayAll(b.ctx, "note"); err != nil {
				t.Fatal(err)
			}
			sleep(time.Hour)
			if done != 250 {
				t.Errorf("%d jobs completed, want 250", done)
			}
		})
	})
}

func TestQueue_List(t *testing.T) {
	b := newFixture(t)
	if _, err := b.queue.List(b.ctx, job.Query{}); !errors.Is(err, job.ErrOption) {
		t.Errorf("List without a state = %v, want %v", err, job.ErrOption)
	}
	for range 101 {
		enqueue(t, b, plain, note{})
	}
	if list, err := b.queue.List(b.ctx, job.Query{State: job.StateWaiting}); len(list) != 100 ||
		err != nil {
		t.Errorf("a page has %d, %v; want 100", len(list), err)
	}
	if b.queue.String() != b.queue.Capabilities().Name {
		t.Errorf("String = %q, want the engine's name", b.queue)
	}
}
