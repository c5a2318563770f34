package notifyx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/notifyx"
)

// memoryQueue is a fake queue. Each call of Work performs every stored job once.
type memoryQueue struct {
	driver.Engine

	mu       sync.Mutex
	jobs     []driver.Job
	outcomes []driver.Outcome
	err      error
}

func (*memoryQueue) Capabilities() driver.Capabilities {
	return driver.Capabilities{Name: "test", Transactional: true}
}

func (e *memoryQueue) Insert(_ context.Context, jobs []driver.Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	e.jobs = append(e.jobs, jobs...)
	return nil
}

func (e *memoryQueue) Work(ctx context.Context, w driver.Work) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.jobs {
		e.outcomes = append(e.outcomes, w.Run(ctx, driver.Attempt{Job: j, Number: 1}))
	}
	return nil
}

// withQueue returns a context with a queue.
func withQueue(t *testing.T) (context.Context, *memoryQueue) {
	t.Helper()
	e, nodes := &memoryQueue{}, &xregnode.Nodes{}
	nodes.Set(xctx.JobQueueKey, job.NewQueue(e))
	return xregnode.NewContext(t.Context(), nodes), e
}

// work performs every stored job once and returns the outcome of the last.
func work(t *testing.T, ctx context.Context, e *memoryQueue, r *notifyx.Router) driver.Outcome {
	t.Helper()
	if err := job.Work(ctx, job.WithHandlers(r.Handler())); err != nil {
		t.Fatal(err)
	}
	return e.outcomes[len(e.outcomes)-1]
}

func TestSendAsync(t *testing.T) {
	t.Run("stores the message as a job", func(t *testing.T) {
		ctx, e := withQueue(t)
		request := xctx.NewRequest(ctx, nil)
		request.SetAcceptLanguage("zh-CN,en;q=0.8")
		m := message(func(m *notifyx.Message) {
			m.Content, m.Template, m.Priority = "", "welcome", job.PriorityHigh
			m.Variables = map[string]any{"id": int64(9007199254740993)}
		})
		id, err := notifyx.SendAsync(request, m)
		if _, invalid := xutil.UUID().WithDashes(id); err != nil || invalid != nil || m.ID != "" {
			t.Fatalf("SendAsync = %q, %v; want a UUID, and the message unchanged (%q)",
				id, err, m.ID)
		}
		if j := e.jobs[0]; j.Kind != "plinth.notify" || j.Priority != 1 || j.MaxAttempts != 25 {
			t.Errorf("job = %+v", j)
		}
		s := &sender{}
		r := router(t, notifyx.WithSender(notifyx.TypeEmail, s),
			notifyx.WithTemplates(templates(t, map[string]string{
				"welcome.en.txt": "no", "welcome.zh.txt": "编号 ${id}",
			})))
		var created time.Time
		for range 3 {
			if o := work(t, ctx, e, r); o.Action != driver.Complete {
				t.Fatalf("outcome = %+v", o)
			}
			if got := s.last(t); got.ID != id || got.Content != "编号 9007199254740993" {
				t.Errorf("sent %+v, want the ID %s on every attempt, in the request's language",
					got, id)
			}
			if got := s.last(t).CreatedAt; got.IsZero() || !created.IsZero() && got != created {
				t.Errorf("CreatedAt = %v, want %v on every attempt", got, created)
			}
			created = s.last(t).CreatedAt
		}
	})

	t.Run("sets the priority of the job", func(t *testing.T) {
		ctx, e := withQueue(t)
		for _, p := range []job.Priority{0, 1, 2, 3, 4} {
			if _, err := notifyx.SendAsync(ctx,
				message(func(m *notifyx.Message) { m.Priority, m.ID = p, "mine" })); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := notifyx.SendAsync(ctx, message(), job.WithJobMaxAttempts(2),
			job.WithDelay(time.Hour)); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, j := range e.jobs {
			got = append(got, j.Priority)
		}
		if want := []int{3, 1, 2, 3, 4, 3}; !slices.Equal(got, want) {
			t.Errorf("priorities = %v, want %v", got, want)
		}
		if j := e.jobs[5]; j.MaxAttempts != 2 || j.Delay != time.Hour {
			t.Errorf("job = %+v, want the options of the call", j)
		}
	})

	t.Run("fails without a queue", func(t *testing.T) {
		_, err := notifyx.SendAsync(t.Context(), message())
		if err == nil {
			t.Fatal("the message was stored without a queue")
		}
		checkError(t, err, "ann@")
		if !strings.Contains(err.Error(), "job.Init(outbox.Open())") ||
			xerror.From(err).GetErrorCode() != xerror.ConfigError {
			t.Errorf("error = %v, want a ConfigError that names the missing call", err)
		}
	})

	t.Run("rejects an invalid message", func(t *testing.T) {
		ctx, e := withQueue(t)
		for _, m := range []*notifyx.Message{nil, {}, message(func(m *notifyx.Message) {
			m.To = []string{"a\nb"}
		}), message(func(m *notifyx.Message) {
			m.Content, m.HTML = strings.Repeat("SECRET ", 100000), strings.Repeat("SECRET ", 100000)
		})} {
			_, err := notifyx.SendAsync(ctx, m)
			checkError(t, err, "SECRET", notifyx.ErrMessage, notifyx.ErrPermanent)
		}
		e.err = errDown
		_, err := notifyx.SendAsync(ctx, message())
		checkError(t, err, "ann@", errDown)
		if len(e.jobs) != 0 {
			t.Errorf("%d jobs were stored", len(e.jobs))
		}
	})
}

// retryLater is an error with RetryAfter.
type retryLater struct{ wait time.Duration }

func (retryLater) Error() string               { return "busy" }
func (l retryLater) RetryAfter() time.Duration { return l.wait }
func wrapped(err error) error                  { return fmt.Errorf("sender: %w", err) }
func permanentLater(d time.Duration) error     { return notifyx.Permanent(retryLater{d}) }
func invalidMessage(problems ...error) error   { return notifyx.InvalidMessage(problems...) }

func TestRouter_Handler(t *testing.T) {
	t.Run("maps the error to a job outcome", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			err    error
			action driver.Action
			wait   time.Duration // 0 is the backoff
		}{
			{"sent", nil, driver.Complete, 0},
			{"temporary", errDown, driver.Retry, 0},
			{"permanent", wrapped(notifyx.Permanent(errDown)), driver.Discard, 0},
			{"invalid", invalidMessage(errDown), driver.Discard, 0},
			{"retry after", wrapped(retryLater{7 * time.Minute}), driver.Retry, 7 * time.Minute},
			{"long retry after", retryLater{1000 * time.Hour}, driver.Retry, 24 * time.Hour},
			{"negative retry after", retryLater{-time.Hour}, driver.Retry, 0},
			{"permanent with retry after", permanentLater(time.Minute), driver.Discard, 0},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx, e := withQueue(t)
				if _, err := notifyx.SendAsync(ctx, message()); err != nil {
					t.Fatal(err)
				}
				o := work(t, ctx, e,
					router(t, notifyx.WithSender(notifyx.TypeEmail, &sender{err: tc.err})))
				if o.Action != tc.action || tc.wait != 0 && o.Wait != tc.wait ||
					tc.action == driver.Retry && o.Wait <= 0 {
					t.Errorf("outcome = %+v, want %d after %s", o, tc.action, tc.wait)
				}
			})
		}
	})

	t.Run("retries a message that another replica may be able to send", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			change func(m *notifyx.Message)
			want   driver.Action
		}{
			{"no sender", func(m *notifyx.Message) { m.Type = notifyx.TypeSMS }, driver.Retry},
			{
				"no template", func(m *notifyx.Message) { m.Content, m.Template = "", "next" },
				driver.Retry,
			},
			{
				"missing variable",
				func(m *notifyx.Message) { m.Content, m.Template = "", "welcome" },
				driver.Discard,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx, e := withQueue(t)
				if _, err := notifyx.SendAsync(ctx, message(tc.change)); err != nil {
					t.Fatal(err)
				}
				all := templates(t, map[string]string{"welcome.txt": "${a}"})
				o := work(t, ctx, e, router(t, notifyx.WithSender(notifyx.TypeEmail, &sender{}),
					notifyx.WithTemplates(all)))
				if o.Action != tc.want {
					t.Errorf("outcome = %+v, want %d", o, tc.want)
				}
			})
		}
	})

	t.Run("stores no recipient with the job", func(t *testing.T) {
		ctx, e := withQueue(t)
		logged, log := capture(t)
		if _, err := notifyx.SendAsync(ctx, message()); err != nil {
			t.Fatal(err)
		}
		nodes := xregnode.From(ctx)
		s := &sender{err: errors.New("no mailbox ann@example.com")}
		o := work(t, xregnode.NewContext(logged, nodes), e,
			router(t, notifyx.WithSender(notifyx.TypeEmail, s)))
		if o.Error != "notifyx: send EMAIL: no mailbox ***" ||
			strings.Contains(log.String(), "ann@") {
			t.Errorf("the job stores %q, and the log is %s; want no recipient", o.Error, log)
		}
	})
}
