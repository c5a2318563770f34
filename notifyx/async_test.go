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

// engine keeps jobs in memory and does them once each time that Work is called. It is no
// engine to rely on.
type engine struct {
	driver.Engine

	mu       sync.Mutex
	jobs     []driver.Job
	outcomes []driver.Outcome
	err      error
}

func (*engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{Name: "test", Transactional: true}
}

func (e *engine) Insert(_ context.Context, jobs []driver.Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	e.jobs = append(e.jobs, jobs...)
	return nil
}

func (e *engine) Work(ctx context.Context, w driver.Work) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.jobs {
		e.outcomes = append(e.outcomes, w.Run(ctx, driver.Attempt{Job: j, Number: 1}))
	}
	return nil
}

// queued returns a context with a queue.
func queued(t *testing.T) (context.Context, *engine) {
	t.Helper()
	e, nodes := &engine{}, &xregnode.Nodes{}
	nodes.Set(xctx.JobQueueKey, job.NewQueue(e))
	return xregnode.NewContext(t.Context(), nodes), e
}

// work does the jobs that are there, once each, and returns what became of the last.
func work(t *testing.T, ctx context.Context, e *engine, r *notifyx.Router) driver.Outcome {
	t.Helper()
	if err := job.Work(ctx, job.WithHandlers(r.Handler())); err != nil {
		t.Fatal(err)
	}
	return e.outcomes[len(e.outcomes)-1]
}

func TestSendAsyncStoresTheMessageAsAJob(t *testing.T) {
	ctx, e := queued(t)
	request := xctx.NewRequest(ctx, nil)
	request.SetAcceptLanguage("zh-CN,en;q=0.8")
	m := message(func(m *notifyx.Message) {
		m.Content, m.Template, m.Priority = "", "welcome", job.PriorityHigh
		m.Variables = map[string]any{"id": int64(9007199254740993)}
	})
	id, err := notifyx.SendAsync(request, m)
	if _, bad := xutil.UUID().WithDashes(id); err != nil || bad != nil || m.ID != "" {
		t.Fatalf("SendAsync = %q, %v; want a UUID, and the message unchanged (%q)", id, err, m.ID)
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
			t.Errorf("sent %+v, want the id %s at every try, in the request's language", got, id)
		}
		if got := s.last(t).CreatedAt; got.IsZero() || !created.IsZero() && got != created {
			t.Errorf("CreatedAt = %v, want %v at every try", got, created)
		}
		created = s.last(t).CreatedAt
	}
}

func TestThePriorityOfTheMessageIsTheJobs(t *testing.T) {
	ctx, e := queued(t)
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
}

func TestSendAsyncWithoutAQueueSaysWhatToAdd(t *testing.T) {
	_, err := notifyx.SendAsync(t.Context(), message())
	if err == nil {
		t.Fatal("the message was stored without a queue")
	}
	quiet(t, err, "ann@")
	if !strings.Contains(err.Error(), "job.Init(outbox.Open())") ||
		xerror.From(err).GetErrorCode() != xerror.ConfigError {
		t.Errorf("error = %v, want the node to add", err)
	}
}

func TestSendAsyncStoresNothingThatIsNotValid(t *testing.T) {
	ctx, e := queued(t)
	for _, m := range []*notifyx.Message{nil, {}, message(func(m *notifyx.Message) {
		m.To = []string{"a\nb"}
	}), message(func(m *notifyx.Message) {
		m.Content, m.HTML = strings.Repeat("SECRET ", 100000), strings.Repeat("SECRET ", 100000)
	})} {
		_, err := notifyx.SendAsync(ctx, m)
		quiet(t, err, "SECRET", notifyx.ErrMessage, notifyx.ErrPermanent)
	}
	e.err = errDown
	_, err := notifyx.SendAsync(ctx, message())
	quiet(t, err, "ann@", errDown)
	if len(e.jobs) != 0 {
		t.Errorf("%d jobs were stored", len(e.jobs))
	}
}

// later says when to try again.
type later struct{ wait time.Duration }

func (later) Error() string                { return "busy" }
func (l later) RetryAfter() time.Duration  { return l.wait }
func wrapped(err error) error              { return fmt.Errorf("sender: %w", err) }
func permanentLater(d time.Duration) error { return notifyx.Permanent(later{d}) }
func refusal(problems ...error) error      { return notifyx.InvalidMessage(problems...) }

func TestWhatBecomesOfAJobIsWhatTheErrorSays(t *testing.T) {
	for _, tc := range []struct {
		name    string
		err     error
		verdict driver.Action
		wait    time.Duration // 0 is whatever the backoff says
	}{
		{"sent", nil, driver.Complete, 0},
		{"temporary", errDown, driver.Retry, 0},
		{"permanent", wrapped(notifyx.Permanent(errDown)), driver.Discard, 0},
		{"not valid", refusal(errDown), driver.Discard, 0},
		{"later", wrapped(later{7 * time.Minute}), driver.Retry, 7 * time.Minute},
		{"much later", later{1000 * time.Hour}, driver.Retry, 24 * time.Hour},
		{"earlier", later{-time.Hour}, driver.Retry, 0},
		{"later and permanent", permanentLater(time.Minute), driver.Discard, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, e := queued(t)
			if _, err := notifyx.SendAsync(ctx, message()); err != nil {
				t.Fatal(err)
			}
			o := work(t, ctx, e,
				router(t, notifyx.WithSender(notifyx.TypeEmail, &sender{err: tc.err})))
			if o.Action != tc.verdict || tc.wait != 0 && o.Wait != tc.wait ||
				tc.verdict == driver.Retry && o.Wait <= 0 {
				t.Errorf("outcome = %+v, want %d after %s", o, tc.verdict, tc.wait)
			}
		})
	}
}

func TestATemplateThatAnotherReplicaMayHaveIsTriedAgain(t *testing.T) {
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
			"missing variable", func(m *notifyx.Message) { m.Content, m.Template = "", "welcome" },
			driver.Discard,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, e := queued(t)
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
}

func TestTheErrorThatIsKeptWithAJobHasNoRecipient(t *testing.T) {
	ctx, e := queued(t)
	logged, log := capture(t)
	if _, err := notifyx.SendAsync(ctx, message()); err != nil {
		t.Fatal(err)
	}
	nodes := xregnode.From(ctx)
	s := &sender{err: errors.New("no mailbox ann@example.com")}
	o := work(t, xregnode.NewContext(logged, nodes), e,
		router(t, notifyx.WithSender(notifyx.TypeEmail, s)))
	if o.Error != "notifyx: send EMAIL: no mailbox ***" || strings.Contains(log.String(), "ann@") {
		t.Errorf("kept %q, logged %s", o.Error, log)
	}
}
