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

	xJob "github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	xError "github.com/plinthgo/plinth/core/common/xerror"
	xUtil "github.com/plinthgo/plinth/core/common/xutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xNotify "github.com/plinthgo/plinth/notifyx"
)

// engine keeps jobs in memory and does them once each time that Work is called. It is no engine to rely on.
type engine struct {
	driver.Engine

	mu       sync.Mutex
	jobs     []driver.Job
	outcomes []driver.Outcome
	err      error
}

func (*engine) Traits() driver.Traits { return driver.Traits{Name: "test", Transactional: true} }

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
	e, nodes := &engine{}, &xRegNode.Nodes{}
	nodes.Set(xCtx.JobQueueKey, xJob.NewQueue(e))
	return xRegNode.NewContext(t.Context(), nodes), e
}

// work does the jobs that are there, once each, and returns what became of the last.
func work(t *testing.T, ctx context.Context, e *engine, r *xNotify.Router) driver.Outcome {
	t.Helper()
	if err := xJob.Work(ctx, xJob.WithHandlers(r.Handler())); err != nil {
		t.Fatal(err)
	}
	return e.outcomes[len(e.outcomes)-1]
}

func TestSendAsyncStoresTheMessageAsAJob(t *testing.T) {
	ctx, e := queued(t)
	request := xCtx.NewRequest(ctx, nil)
	request.SetAcceptLanguage("zh-CN,en;q=0.8")
	m := message(func(m *xNotify.Message) {
		m.Content, m.Template, m.Priority = "", "welcome", xNotify.PriorityHigh
		m.Variables = map[string]any{"id": int64(9007199254740993)}
	})
	id, err := xNotify.SendAsync(request, m)
	if _, bad := xUtil.UUID().WithDashes(id); err != nil || bad != nil || m.ID != "" {
		t.Fatalf("SendAsync = %q, %v; want a UUID, and the message unchanged (%q)", id, err, m.ID)
	}
	if j := e.jobs[0]; j.Kind != "plinth.notify" || j.Priority != 1 || j.MaxAttempts != xJob.DefaultMaxAttempts {
		t.Errorf("job = %+v", j)
	}
	s := &sender{}
	r := router(t, xNotify.WithSender(xNotify.TypeEmail, s), xNotify.WithTemplates(templates(t, map[string]string{
		"welcome.en.txt": "no", "welcome.zh.txt": "编号 ${id}",
	})))
	var created time.Time
	for range 3 {
		if o := work(t, ctx, e, r); o.Verdict != driver.Succeed {
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
	for _, p := range []xNotify.Priority{0, 1, 2, 3, 4} {
		if _, err := xNotify.SendAsync(ctx, message(func(m *xNotify.Message) { m.Priority, m.ID = p, "mine" })); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := xNotify.SendAsync(ctx, message(), xJob.WithJobMaxAttempts(2), xJob.WithDelay(time.Hour)); err != nil {
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
	_, err := xNotify.SendAsync(t.Context(), message())
	quiet(t, err, "ann@", xNotify.ErrNoQueue)
	if !strings.Contains(err.Error(), "xJob.Init(xOutbox.Open())") || xError.From(err).GetErrorCode() != xError.ConfigError {
		t.Errorf("error = %v, want the node to add", err)
	}
}

func TestSendAsyncStoresNothingThatIsNotValid(t *testing.T) {
	ctx, e := queued(t)
	for _, m := range []*xNotify.Message{nil, {}, message(func(m *xNotify.Message) { m.To = []string{"a\nb"} }), message(func(m *xNotify.Message) {
		m.Content, m.HTML = strings.Repeat("SECRET ", 100000), strings.Repeat("SECRET ", 100000)
	})} {
		_, err := xNotify.SendAsync(ctx, m)
		quiet(t, err, "SECRET", xNotify.ErrMessage, xNotify.ErrPermanent)
	}
	e.err = errDown
	_, err := xNotify.SendAsync(ctx, message())
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
func permanentLater(d time.Duration) error { return xNotify.Permanent(later{d}) }
func refusal(problems ...error) error      { return xNotify.InvalidMessage(problems...) }

func TestWhatBecomesOfAJobIsWhatTheErrorSays(t *testing.T) {
	for _, tc := range []struct {
		name    string
		err     error
		verdict driver.Verdict
		wait    time.Duration // 0 is whatever the backoff says
	}{
		{"sent", nil, driver.Succeed, 0},
		{"temporary", errDown, driver.Retry, 0},
		{"permanent", wrapped(xNotify.Permanent(errDown)), driver.Bury, 0},
		{"not valid", refusal(errDown), driver.Bury, 0},
		{"later", wrapped(later{7 * time.Minute}), driver.Retry, 7 * time.Minute},
		{"much later", later{1000 * time.Hour}, driver.Retry, 24 * time.Hour},
		{"earlier", later{-time.Hour}, driver.Retry, 0},
		{"later and permanent", permanentLater(time.Minute), driver.Bury, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, e := queued(t)
			if _, err := xNotify.SendAsync(ctx, message()); err != nil {
				t.Fatal(err)
			}
			o := work(t, ctx, e, router(t, xNotify.WithSender(xNotify.TypeEmail, &sender{err: tc.err})))
			if o.Verdict != tc.verdict || tc.wait != 0 && o.Wait != tc.wait || tc.verdict == driver.Retry && o.Wait <= 0 {
				t.Errorf("outcome = %+v, want %d after %s", o, tc.verdict, tc.wait)
			}
		})
	}
}

func TestATemplateThatAnotherReplicaMayHaveIsTriedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(m *xNotify.Message)
		want   driver.Verdict
	}{
		{"no sender", func(m *xNotify.Message) { m.Type = xNotify.TypeSMS }, driver.Retry},
		{"no template", func(m *xNotify.Message) { m.Content, m.Template = "", "next" }, driver.Retry},
		{"missing variable", func(m *xNotify.Message) { m.Content, m.Template = "", "welcome" }, driver.Bury},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, e := queued(t)
			if _, err := xNotify.SendAsync(ctx, message(tc.change)); err != nil {
				t.Fatal(err)
			}
			all := templates(t, map[string]string{"welcome.txt": "${a}"})
			o := work(t, ctx, e, router(t, xNotify.WithSender(xNotify.TypeEmail, &sender{}), xNotify.WithTemplates(all)))
			if o.Verdict != tc.want {
				t.Errorf("outcome = %+v, want %d", o, tc.want)
			}
		})
	}
}

func TestTheErrorThatIsKeptWithAJobHasNoRecipient(t *testing.T) {
	ctx, e := queued(t)
	logged, log := capture(t)
	if _, err := xNotify.SendAsync(ctx, message()); err != nil {
		t.Fatal(err)
	}
	nodes := xRegNode.From(ctx)
	s := &sender{err: errors.New("no mailbox ann@example.com")}
	o := work(t, xRegNode.NewContext(logged, nodes), e, router(t, xNotify.WithSender(xNotify.TypeEmail, s)))
	if o.Error != "xnotify: send EMAIL: no mailbox ***" || strings.Contains(log.String(), "ann@") {
		t.Errorf("kept %q, logged %s", o.Error, log)
	}
}
