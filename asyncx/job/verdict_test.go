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

// badError is an error whose text panics.
type badError struct{}

func (badError) Error() string { panic("no text") }

func TestWhatAHandlerReturnsDecidesOverItsJob(t *testing.T) {
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
			name: "an error", do: func(context.Context) error { return errBoom },
			state: driver.Waiting, attempt: 1, wait: wait, want: "boom",
		},
		{
			name: "an error at the last attempt",
			last: true, do: func(context.Context) error { return errBoom },
			state: driver.Dead, attempt: 1, want: "boom",
		},
		{
			name: "Dead", do: func(context.Context) error { return job.Dead(errBoom) },
			state: driver.Dead, attempt: 1, want: "boom",
		},
		{
			name:  "Dead within another error",
			do:    func(context.Context) error { return fmt.Errorf("so: %w", job.Dead(errBoom)) },
			state: driver.Dead, attempt: 1, want: "so: boom",
		},
		{
			name:  "RetryAfter",
			do:    func(context.Context) error { return job.RetryAfter(errBoom, time.Hour) },
			state: driver.Waiting, attempt: 1, wait: time.Hour, want: "boom",
		},
		{
			name: "RetryAfter within another error", do: func(context.Context) error {
				return fmt.Errorf("so: %w", job.RetryAfter(errBoom, time.Hour))
			},
			state: driver.Waiting, attempt: 1, wait: time.Hour, want: "so: boom",
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
			name: "a panic", do: func(context.Context) error { panic("oh no") }, state: driver.Waiting,
			attempt: 1, wait: wait, want: "panic: oh no",
		},
		{
			name: "a panic at the last attempt",
			last: true, do: func(context.Context) error { panic("oh no") },
			state: driver.Dead, attempt: 1, want: "panic: oh no",
		},
		{
			name:  "the end of the goroutine",
			do:    func(context.Context) error { runtime.Goexit(); return nil },
			state: driver.Waiting, attempt: 1, wait: wait,
			want: "job: the handler ended its goroutine",
		},
		{
			name: "an error without a text",
			last: true, do: func(context.Context) error { return badError{} },
			state: driver.Dead, attempt: 1, want: "panic: no text",
		},
		{
			name:  "the timeout",
			do:    func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			state: driver.Waiting, attempt: 1, wait: wait,
			want: "job: the attempt took too long: context deadline exceeded",
		},
		{
			name:  "Dead after the timeout",
			do:    func(ctx context.Context) error { <-ctx.Done(); return job.Dead(errBoom) },
			state: driver.Dead, attempt: 1, want: "job: the attempt took too long: boom",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				attempts := 5
				if tc.last {
					attempts = 1
				}
				k := job.NewKind[note]("note",
					job.WithMaxAttempts(attempts), job.WithBackoff(backoff.Constant(wait)),
					job.WithTimeout(30*time.Second))
				id := enqueue(t, b, k, note{Text: secret})
				var end time.Time
				l := b.work(t, job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
					defer func() { end = time.Now() }()
					return tc.do(ctx)
				})))
				pass(time.Minute)
				r := b.get(t, id)
				if r.State != tc.state || r.Attempt != tc.attempt || r.Error != tc.want {
					t.Errorf("state, attempt, error = %s, %d, %q; want %s, %d, %q",
						r.State, r.Attempt, r.Error, tc.state, tc.attempt, tc.want)
				}
				if wait := r.RunAt.Sub(end); tc.state == driver.Waiting && wait != tc.wait {
					t.Errorf("the job waits for %s, want %s", wait, tc.wait)
				}
				l.ends(t)
				if strings.Contains(b.log.String(), secret) {
					t.Errorf("the log shows the arguments:\n%s", b.log)
				}
			})
		})
	}
}

func TestNilAfterAnErrorIsNil(t *testing.T) {
	if job.Dead(nil) != nil || job.RetryAfter(nil, time.Hour) != nil {
		t.Error("Dead(nil) or RetryAfter(nil) is an error, want nil")
	}
	for _, err := range []error{job.Dead(errBoom), job.RetryAfter(errBoom, 0)} {
		if !errors.Is(err, errBoom) || err.Error() != "boom" {
			t.Errorf("%v is not what it was given", err)
		}
	}
	if got := job.Snooze(-time.Second).Error(); got != "not yet: again in 0s" {
		t.Errorf("Snooze(-1s) = %q", got)
	}
}

func TestAJobThatSucceedsRunsOnceAndIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
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
		pass(time.Hour)
		if len(got) != 1 || got[0] != (note{Text: "hello", N: 3}) {
			t.Errorf("the handler got %v, want the arguments once", got)
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
		t.Error("a context that is no job's has an Info")
	}
}

func TestAJobIsTriedWithTheBackoffOfItsKindUntilItIsDead(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note", job.WithMaxAttempts(4),
			job.WithBackoff(backoff.Schedule(time.Minute, time.Hour, 24*time.Hour)))
		id := enqueue(t, b, k, note{})
		var times []time.Time
		b.work(t, job.WithPollInterval(time.Second),
			job.WithHandlers(k.Handle(func(context.Context, note) error {
				times = append(times, time.Now())
				return errBoom
			})))
		pass(48 * time.Hour)
		if len(times) != 4 {
			t.Fatalf("%d attempts, want 4", len(times))
		}
		for i, want := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
			if got := times[i+1].Sub(times[i]); got < want || got > want+2*time.Second {
				t.Errorf("attempt %d came %s after the one before, want %s", i+2, got, want)
			}
		}
		if r := b.get(t, id); r.State != job.StateDead || r.Attempt != 4 {
			t.Errorf("state, attempt = %s, %d; want dead, 4", r.State, r.Attempt)
		}
		if n := len(b.log.of(t, "job failed")); n != 3 {
			t.Errorf("%d lines tell of a failure, want 3", n)
		}
		if n := len(b.log.of(t, "job dead")); n != 1 {
			t.Errorf("%d lines tell of the death, want 1", n)
		}
	})
}

func TestABackoffThatPanicsIsReplacedByTheDefault(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note",
			job.WithBackoff(func(int) time.Duration { panic("no backoff") }))
		id := enqueue(t, b, k, note{})
		b.work(t, job.WithPollInterval(time.Hour),
			job.WithHandlers(k.Handle(func(context.Context, note) error { return errBoom })))
		pass(time.Minute)
		r := b.get(t, id)
		if r.State != job.StateWaiting || r.Attempt != 1 || r.Error != "panic: no backoff" {
			t.Errorf("state, attempt, error = %s, %d, %q", r.State, r.Attempt, r.Error)
		}
	})
}

func TestAPanicIsLoggedWithItsStackWhichTheRecordDoesNotHave(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		k := job.NewKind[note]("note", job.WithMaxAttempts(1))
		id := enqueue(t, b, k, note{})
		b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error { return panics() })))
		pass(time.Minute)
		lines := b.log.of(t, "job dead")
		if len(lines) != 1 || lines[0]["error"] != "panic: oh no" ||
			!strings.Contains(fmt.Sprint(lines[0]["stack"]), "job_test.panics") {
			t.Errorf("lines = %v, want the panic with its stack", lines)
		}
		if n := strings.Count(b.log.String(), "oh no"); n != 1 {
			t.Errorf("%d lines tell of the panic, want 1:\n%s", n, b.log)
		}
		if r := b.get(t, id); strings.Contains(r.Error, "goroutine") || r.Error != "panic: oh no" {
			t.Errorf("the record has the error %q, want no stack", r.Error)
		}
	})
}

func panics() error { panic("oh no") }

func TestTheErrorOfAJobIsBoundedText(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
	}{
		{name: "long", text: strings.Repeat("x", 5000), want: strings.Repeat("x", 2000)},
		{
			name: "cut between characters",
			text: "a" + strings.Repeat("世", 1000), want: "a" + strings.Repeat("世", 666),
		},
		{name: "no UTF-8", text: "a\xff\xfeb", want: "a\uFFFDb"},
		{name: "NUL", text: "a\x00b", want: "ab"},
		{name: "short", text: "é", want: "é"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				k := job.NewKind[note]("note")
				id := enqueue(t, b, k, note{})
				b.work(t, job.WithHandlers(k.Handle(func(context.Context, note) error {
					return job.Dead(errors.New(tc.text))
				})))
				pass(time.Minute)
				if r := b.get(t, id); r.Error != tc.want || !utf8.ValidString(r.Error) {
					t.Errorf("the error is %.40q (%d bytes), want %.40q (%d)",
						r.Error, len(r.Error), tc.want, len(tc.want))
				}
			})
		})
	}
}

func TestAJobWhoseWorkersDieIsDeadAfterItsAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
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
			pass(5 * time.Second) // the second attempt waits
			b.engine.SetAway(true)
			pass(time.Minute)
			l.ends(t)
			b = onStoreOf(t, b)
		}
		b.work(t, hang)
		pass(time.Minute)
		r := b.get(t, id)
		if runs != 2 || r.State != job.StateDead ||
			r.Error != "the last attempt ended with the death of its worker" {
			t.Errorf("%d runs, state %s, error %q; want 2 and a dead job", runs, r.State, r.Error)
		}
		if len(b.log.of(t, "job dead: its workers died")) != 1 {
			t.Errorf("no line tells of the death:\n%s", b.log)
		}
	})
}
