package job_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
)

var errBoom = errors.New("boom")

// badError is an error whose Error method panics.
type badError struct{}

func (badError) Error() string { panic("Error panics") }

func TestWork_Outcome(t *testing.T) {
	t.Run("depends on the handler's error", func(t *testing.T) {
		const wait = 7 * time.Minute
		for _, tc := range []struct {
			name    string
			last    bool
			do      func(ctx context.Context) error
			state   job.State
			attempt int
			wait    time.Duration
			want    string
		}{
			{
				name: "error", do: func(context.Context) error { return errBoom },
				state: driver.Waiting, attempt: 1, wait: wait, want: "boom",
			},
			{
				name: "error at the last attempt",
				last: true, do: func(context.Context) error { return errBoom },
				state: driver.Dead, attempt: 1, want: "boom",
			},
			{
				name: "Dead", do: func(context.Context) error { return job.Dead(errBoom) },
				state: driver.Dead, attempt: 1, want: "boom",
			},
			{
				name: "wrapped Dead",
				do: func(context.Context) error {
					return fmt.Errorf("wrapped: %w", job.Dead(errBoom))
				},
				state: driver.Dead, attempt: 1, want: "wrapped: boom",
			},
			{
				name:  "RetryAfter",
				do:    func(context.Context) error { return job.RetryAfter(errBoom, time.Hour) },
				state: driver.Waiting, attempt: 1, wait: time.Hour, want: "boom",
			},
			{
				name: "wrapped RetryAfter", do: func(context.Context) error {
					return fmt.Errorf("wrapped: %w", job.RetryAfter(errBoom, time.Hour))
				},
				state: driver.Waiting, attempt: 1, wait: time.Hour, want: "wrapped: boom",
			},
			{
				name: "RetryAfter at the last attempt", last: true,
				do:    func(context.Context) error { return job.RetryAfter(errBoom, time.Hour) },
				state: driver.Dead, attempt: 1, want: "boom",
			},
			{
				name: "Snooze", do: func(context.Context) error { return job.Snooze(time.Hour) },
				state: driver.Waiting, wait: time.Hour,
			},
			{
				name: "Snooze at the last attempt",
				last: true, do: func(context.Context) error { return job.Snooze(time.Hour) },
				state: driver.Waiting, wait: time.Hour,
			},
			{
				name: "panic",
				do:   func(context.Context) error { panic("oh no") }, state: driver.Waiting,
				attempt: 1, wait: wait, want: "panic: oh no",
			},
			{
				name: "panic at the last attempt",
				last: true, do: func(context.Context) error { panic("oh no") },
				state: driver.Dead, attempt: 1, want: "panic: oh no",
			},
			{
				name:  "runtime.Goexit",
				do:    func(context.Context) error { runtime.Goexit(); return nil },
				state: driver.Waiting, attempt: 1, wait: wait,
				want: "job: the handler called runtime.Goexit",
			},
			{
				name: "error whose Error method panics",
				last: true, do: func(context.Context) error { return badError{} },
				state: driver.Dead, attempt: 1, want: "panic: Error panics",
			},
			{
				name:  "timeout",
				do:    func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
				state: driver.Waiting, attempt: 1, wait: wait,
				want: "job: attempt timed out: context deadline exceeded",
			},
			{
				name:  "Dead after the timeout",
				do:    func(ctx context.Context) error { <-ctx.Done(); return job.Dead(errBoom) },
				state: driver.Dead, attempt: 1, want: "job: attempt timed out: boom",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				withFakeClock(t, func(t *testing.T, b *fixture) {
					attempts := 5
					if tc.last {
						attempts = 1
					}
					k := job.NewKind[note]("note",
						job.WithMaxAttempts(attempts), job.WithBackoff(backoff.Constant(wait)),
						job.WithTimeout(30*time.Second))
					id := enqueue(t, b, k, note{Text: secret})
					var end time.Time
					l := b.work(t,
						job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
							defer func() { end = time.Now() }()
							return tc.do(ctx)
						})))
					sleep(time.Minute)
					r := b.get(t, id)
					if r.State != tc.state || r.Attempt != tc.attempt || r.Error != tc.want {
						t.Errorf("state, attempt, error = %s, %d, %q; want %s, %d, %q",
							r.State, r.Attempt, r.Error, tc.state, tc.attempt, tc.want)
					}
					if wait := r.RunAt.Sub(end); tc.state == driver.Waiting && wait != tc.wait {
						t.Errorf("the job waits for %s, want %s", wait, tc.wait)
					}
					l.stopAndWait(t)
					if strings.Contains(b.log.String(), secret) {
						t.Errorf("the log shows the arguments:\n%s", b.log)
					}
				})
			})
		}
	})

	t.Run("deletes a successful job", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note")
			before := time.Now()
			id := enqueue(t, b, k, note{Text: "hello", N: 3})
			var got []note
			var info job.Info
			b.work(t, job.WithHandlers(k.Handle(func(ctx context.Context, n note) error {
				got = append(got, n)
				info, _ = job.InfoFrom(ctx)
				return nil
			})))
			sleep(time.Hour)
			if len(got) != 1 || got[0] != (note{Text: "hello", N: 3}) {
				t.Errorf("the handler got %v, want the arguments 1 time", got)
			}
			if want := (job.Info{
				ID: id, Kind: "note",
				Attempt: 1, MaxAttempts: 25, CreatedAt: before,
			}); info != want {
				t.Errorf("Info = %+v, want %+v", info, want)
			}
			if _, err := b.queue.Get(b.ctx, id); !errors.Is(err, job.ErrNotFound) {
				t.Errorf("Get = %v, want %v", err, job.ErrNotFound)
			}
		})
		if _, ok := job.InfoFrom(t.Context()); ok {
			t.Error("a context without a job has an Info")
		}
	})

	t.Run("logs the stack of a panic", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(1))
			id := enqueue(t, b, k, note{})
			b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
				return panics()
			})))
			sleep(time.Minute)
			lines := b.log.withMessage(t, "job dead-lettered")
			if len(lines) != 1 || lines[0]["error"] != "panic: oh no" ||
				!strings.Contains(fmt.Sprint(lines[0]["stack"]), "job_test.panics") {
				t.Errorf("lines = %v, want 1 with the stack", lines)
			}
			if n := strings.Count(b.log.String(), "oh no"); n != 1 {
				t.Errorf("%d log messages about the panic, want 1:\n%s", n, b.log)
			}
			if r := b.get(t, id); strings.Contains(r.Error, "goroutine") ||
				r.Error != "panic: oh no" {
				t.Errorf("the record has the error %q, want no stack", r.Error)
			}
		})
	})

	t.Run("truncates and sanitizes errors", func(t *testing.T) {
		for _, tc := range []struct {
			name, text, want string
		}{
			{name: "long", text: strings.Repeat("x", 5000), want: strings.Repeat("x", 2000)},
			{
				name: "truncated between runes",
				text: "a" + strings.Repeat("世", 1000), want: "a" + strings.Repeat("世", 666),
			},
			{name: "invalid UTF-8", text: "a\xff\xfeb", want: "a\uFFFDb"},
			{name: "NUL", text: "a\x00b", want: "ab"},
			{name: "short", text: "é", want: "é"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				withFakeClock(t, func(t *testing.T, b *fixture) {
					k := job.NewKind[note]("note")
					id := enqueue(t, b, k, note{})
					b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
						return job.Dead(errors.New(tc.text))
					})))
					sleep(time.Minute)
					if r := b.get(t, id); r.Error != tc.want || !utf8.ValidString(r.Error) {
						t.Errorf("the error is %.40q (%d bytes), want %.40q (%d bytes)",
							r.Error, len(r.Error), tc.want, len(tc.want))
					}
				})
			})
		}
	})

	t.Run("dead-letters a job after its last attempt crashed", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(2))
			id := enqueue(t, b, k, note{})
			runs := 0
			hang := job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
				runs++
				<-ctx.Done()
				return nil
			}))
			for range 2 {
				l := b.work(t, hang)
				sleep(5 * time.Second) // the second attempt waits
				b.engine.SetAway(true)
				sleep(time.Minute)
				l.stopAndWait(t)
				b = newReplica(t, b)
			}
			b.work(t, hang)
			sleep(time.Minute)
			r := b.get(t, id)
			if runs != 2 || r.State != job.StateDead ||
				r.Error != "the worker of the last attempt crashed" {
				t.Errorf("%d runs, state %s, error %q; want 2 and a dead job",
					runs, r.State, r.Error)
			}
			if len(b.log.withMessage(t, "job dead-lettered: workers crashed")) != 1 {
				t.Errorf("no log message about the discard:\n%s", b.log)
			}
		})
	})
}

func TestDead(t *testing.T) {
	if job.Dead(nil) != nil || job.RetryAfter(nil, time.Hour) != nil {
		t.Error("Dead(nil) or RetryAfter(nil) is not nil")
	}
	for _, err := range []error{job.Dead(errBoom), job.RetryAfter(errBoom, 0)} {
		if !errors.Is(err, errBoom) || err.Error() != "boom" {
			t.Errorf("%v does not wrap its argument", err)
		}
	}
	if got := job.Snooze(-time.Second).Error(); got != "snoozed for 0s" {
		t.Errorf("Snooze(-1s) = %q", got)
	}
}

func TestWork_Retry(t *testing.T) {
	t.Run("uses the backoff of the kind until the job is dead", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note", job.WithMaxAttempts(4),
				job.WithBackoff(backoff.Schedule(time.Minute, time.Hour, 24*time.Hour)))
			id := enqueue(t, b, k, note{})
			var times []time.Time
			b.work(t, job.WithPollInterval(time.Second),
				job.WithHandlers(k.Handle(func(context.Context, note) error {
					times = append(times, time.Now())
					return errBoom
				})))
			sleep(48 * time.Hour)
			if len(times) != 4 {
				t.Fatalf("%d attempts, want 4", len(times))
			}
			for i, want := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
				if got := times[i+1].Sub(times[i]); got < want || got > want+2*time.Second {
					t.Errorf("attempt %d came %s after the previous one, want %s", i+2, got, want)
				}
			}
			if r := b.get(t, id); r.State != job.StateDead || r.Attempt != 4 {
				t.Errorf("state, attempt = %s, %d; want dead, 4", r.State, r.Attempt)
			}
			if n := len(b.log.withMessage(t, "job failed")); n != 3 {
				t.Errorf("%d log messages about a failure, want 3", n)
			}
			if n := len(b.log.withMessage(t, "job dead-lettered")); n != 1 {
				t.Errorf("%d log messages about the discard, want 1", n)
			}
		})
	})

	t.Run("uses the default backoff if the policy panics", func(t *testing.T) {
		withFakeClock(t, func(t *testing.T, b *fixture) {
			k := job.NewKind[note]("note",
				job.WithBackoff(func(int) time.Duration { panic("no backoff") }))
			id := enqueue(t, b, k, note{})
			b.work(t, job.WithPollInterval(time.Hour),
				job.WithHandlers(k.Handle(func(context.Context, note) error { return errBoom })))
			sleep(time.Minute)
			r := b.get(t, id)
			if r.State != job.StateWaiting || r.Attempt != 1 || r.Error != "panic: no backoff" {
				t.Errorf("state, attempt, error = %s, %d, %q; want waiting, 1, panic: no backoff",
					r.State, r.Attempt, r.Error)
			}
		})
	})
}

func panics() error { panic("oh no") }
