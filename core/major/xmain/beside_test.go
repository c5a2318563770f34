package xmain_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// beside is a second HTTP server, which a task runs beside the service as one of another
// transport would be.
type beside struct {
	listener         net.Listener
	entered, release chan struct{} // of its one slow request
	answered         func()        // nil: nobody wants to know
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &beside{listener: l, entered: make(chan struct{}), release: make(chan struct{})}
}

// serve is the task.
func (b *beside) serve(ctx context.Context, _ ...any) {
	release, _ := xhook.HoldReady(ctx, "beside")
	defer release()
	server := &http.Server{
		ReadHeaderTimeout: patience,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(b.entered)
			<-b.release
			if b.answered != nil {
				b.answered()
			}
		}),
	}
	if !xhook.OnShutdown(ctx, "beside", func(ctx context.Context) error {
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	}) {
		_ = b.listener.Close() // the stop has come first
		return
	}
	release()
	if err := server.Serve(b.listener); !errors.Is(err, http.ErrServerClosed) {
		xhook.Fail(ctx, err)
	}
}

func TestSecondServerFinishesItsRequestsWithTheFirst(t *testing.T) {
	tr := &trace{}
	s, b := prepare(t, node(tr, "node")), newBeside(t)
	b.answered = func() { tr.add("answer") }
	s.start(b.serve)
	got := make(chan error, 1)
	go func() {
		other := *s
		other.url = "http://" + b.listener.Addr().String()
		_, _, err := other.get("/slow")
		got <- err
	}()
	wait(t, b.entered, "the request")
	s.cancel()
	wait(t, s.Life().Draining(), "the stop")
	refused(t, s)
	if s.Init.Ctx.Err() != nil {
		t.Error("the tasks' context has ended before the second server's request")
	}
	close(b.release)
	if err := <-got; err != nil {
		t.Errorf("request to the second server = %v, want an answer", err)
	}
	if err := s.result(); err != nil {
		t.Error(err)
	}
	if tr.String() != "answer, close node" {
		t.Errorf("order = %s, want the answer first", tr)
	}
}

func TestRunContext_drainDelayOfAServiceThatIsDraining(t *testing.T) {
	const delay = 100 * time.Millisecond
	s := prepare(t, nil, xoption.WithDrainDelay(delay))
	s.start()
	s.Life().StartDrain()
	began := time.Now()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("the stop took %s, want at least the drain delay of %s", took, delay)
	}
}

func TestShutdownHooksRunAfterTheDrainDelayWhileRequestsAreFinished(t *testing.T) {
	const delay = 100 * time.Millisecond
	entered, release := make(chan struct{}), make(chan struct{})
	shutting, answered := make(chan struct{}), make(chan struct{})
	s := prepare(t, nil, xoption.WithDrainDelay(delay),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/slow", func(c *gin.Context) {
				close(entered)
				<-release
				xresult.Success(c, "slow")
			})
		}))
	var drained, shut time.Time
	s.Life().OnDrain("a", func(context.Context) error { drained = time.Now(); return nil })
	s.Life().OnShutdown("a", func(context.Context) error {
		shut = time.Now()
		// the request is in flight until then, and this hook runs until the request has
		// ended
		close(shutting)
		<-answered
		return s.Init.Ctx.Err()
	})
	s.start()
	go func() {
		defer close(answered)
		if status, _, err := s.get("/slow"); err != nil || status != http.StatusOK {
			t.Errorf("request in flight = %d, %v; want 200", status, err)
		}
	}()
	wait(t, entered, "the request")
	s.cancel()
	wait(t, shutting, "the shutdown hook")
	refused(t, s)
	close(release)
	if err := s.result(); err != nil {
		t.Error(err)
	}
	if got := shut.Sub(drained); got < delay {
		t.Errorf("the shutdown hook ran %s after the drain hook, want at least %s", got, delay)
	}
}

func TestShutdownHookIsCutOffWithTheRequestsAndTasksHaveTheirGrace(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	s := prepare(t, nil, xoption.WithShutdownTimeout(shortly),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/endless", func(c *gin.Context) {
				close(entered)
				<-c.Request.Context().Done()
			})
		}))
	tr := &trace{}
	deadline := make(chan time.Time, 1)
	s.Life().OnShutdown("polite", func(ctx context.Context) error {
		end, _ := ctx.Deadline()
		deadline <- end
		return s.Init.Ctx.Err()
	})
	s.Life().OnShutdown("stubborn", func(context.Context) error { <-release; return nil })
	s.start(func(ctx context.Context, _ ...any) {
		<-ctx.Done()
		tr.add("task")
	})
	go func() { _, _, _ = s.get("/endless") }()
	wait(t, entered, "the request")
	began := time.Now()
	err := s.stop()
	for _, want := range []string{
		"1 requests were cut off",
		`shutdown hook "stubborn": still running`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("RunContext = %v, want %s", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "tasks are still running") {
		t.Errorf("RunContext = %v, want the task to have ended", err)
	}
	if took := time.Since(began); took > shortly+20*time.Second {
		t.Errorf("the stop took %s", took)
	}
	least := shortly - s.Settings().Reserve()
	if got := (<-deadline).Sub(began); got < least || got >= shortly+20*time.Second {
		t.Errorf("deadline of the hook = %s after the stop began, want that of the requests, %s",
			got, least)
	}
	if tr.String() != "task" {
		t.Errorf("ended: %s, want the task", tr)
	}
}

func TestShutdownHooksRunWhereTheServiceNeverWasReady(t *testing.T) {
	cause := errors.New("cause")
	fail := func(context.Context) error { return cause }
	for _, tc := range []struct {
		name  string
		set   func(*xhook.Lifecycle)
		tasks []xmain.Task
	}{
		{name: "nothing ever listened", set: func(l *xhook.Lifecycle) { l.OnStart("a", fail) }},
		{name: "wrong task", set: func(*xhook.Lifecycle) {}, tasks: []xmain.Task{nil}},
		{name: "ready hook", set: func(l *xhook.Lifecycle) { l.OnReady("a", fail) }},
		{name: "failure", set: func(l *xhook.Lifecycle) { l.Fail(cause) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := &trace{}
			s := prepare(t, node(tr, "node"))
			s.Life().OnShutdown("a", func(context.Context) error { tr.add("shutdown"); return nil })
			tc.set(s.Life())
			s.run(tc.tasks...)
			if err := s.result(); err == nil {
				t.Error("RunContext = nil, want an error")
			}
			if tr.String() != "shutdown, close node" {
				t.Errorf("order = %s, want the shutdown hook and the node", tr)
			}
		})
	}
}

func TestEveryPanicOfAShutdownHookIsLoggedWithItsStack(t *testing.T) {
	s := prepare(t, nil)
	for _, what := range []string{"first oh", "second oh"} {
		s.Life().OnShutdown(what, func(context.Context) error { panic(what) })
	}
	s.start()
	err := s.stop()
	var p *xhook.PanicError
	if !errors.As(err, &p) || !strings.Contains(err.Error(),
		`shutdown hook "first oh": panic: first oh`) {
		t.Errorf("RunContext = %v, want the panic of both hooks", err)
	}
	for _, what := range []string{"first oh", "second oh"} {
		if n := strings.Count(s.log.String(), `"panic":"`+what+`"`); n != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", what, n, s.log)
		}
	}
	if !strings.Contains(s.log.String(), "beside_test.go") {
		t.Errorf("log\n%s\nhas no stack", s.log)
	}
}

func TestTaskHoldsReadinessUntilItReleases(t *testing.T) {
	s := prepare(t, nil)
	holds, listen := make(chan struct{}), make(chan struct{})
	s.run(func(ctx context.Context, _ ...any) {
		release, held := xhook.HoldReady(ctx, "beside")
		if !held {
			t.Error("HoldReady = false, want a hold")
		}
		close(holds)
		<-listen
		release()
		<-xhook.Readied(ctx)
	})
	wait(t, holds, "the hold")
	s.untilReadyz(http.StatusServiceUnavailable)
	close(listen)
	wait(t, s.Life().Readied(), "readiness")
	s.untilReadyz(http.StatusOK)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestATaskThatIsSlowToBeginIsInTimeForItsHold(t *testing.T) {
	s := prepare(t, nil)
	s.run(func(ctx context.Context, _ ...any) {
		<-time.After(50 * time.Millisecond) // as a machine without a processor to spare makes it
		if _, held := xhook.HoldReady(ctx, "beside"); !held {
			t.Error("HoldReady = false, want a hold")
		}
		xhook.Fail(ctx, errors.New("seen"))
	})
	_ = s.result()
}

func TestATaskThatAsksForNothingDelaysReadinessBriefly(t *testing.T) {
	s := prepare(t, nil)
	end := make(chan struct{})
	s.run(func(context.Context, ...any) { <-end })
	wait(t, s.Life().Readied(), "readiness")
	close(end)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestFailureWhileReadinessIsHeldEndsTheStart(t *testing.T) {
	cause := errors.New("port in use")
	// which a service that never was ready does not wait for
	s := prepare(t, nil, xoption.WithDrainDelay(15*time.Second))
	s.Life().OnReady("a", func(context.Context) error { t.Error("the ready hook ran"); return nil })
	s.run(func(ctx context.Context, _ ...any) {
		if _, held := xhook.HoldReady(ctx, "beside"); !held {
			t.Error("HoldReady = false, want a hold")
		}
		xhook.Fail(ctx, cause)
	})
	began := time.Now()
	if err := s.result(); !errors.Is(err, cause) || strings.Count(err.Error(), cause.Error()) != 1 {
		t.Errorf("RunContext = %v, want the failure once", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("start and stop took %s", took)
	}
	select {
	case <-s.Life().Readied():
		t.Error("the service was ready")
	default:
	}
	if strings.Contains(s.log.String(), `"msg":"ready"`) {
		t.Errorf("log\n%s\nsays ready", s.log)
	}
}

func TestPanicOfATaskThatHoldsReadinessIsLoggedOnce(t *testing.T) {
	s := prepare(t, nil)
	s.run(func(ctx context.Context, _ ...any) {
		xhook.HoldReady(ctx, "beside")
		panic("oh")
	})
	if err := s.result(); err == nil || !strings.Contains(err.Error(), "panic: oh") {
		t.Errorf("RunContext = %v, want the panic", err)
	}
	if n := strings.Count(s.log.String(), `"stack"`); n != 1 {
		t.Errorf("%d stacks are logged, want one:\n%s", n, s.log)
	}
}

func TestStopWhileReadinessIsHeldIsNoErrorAndTheLogNamesTheHold(t *testing.T) {
	s := prepare(t, nil)
	holds := make(chan struct{})
	s.run(func(ctx context.Context, _ ...any) {
		xhook.HoldReady(ctx, "beside")
		close(holds)
		<-ctx.Done()
	})
	wait(t, holds, "the hold")
	if err := s.stop(); err != nil {
		t.Errorf("RunContext = %v, want nil", err)
	}
	// The runner's own hold, of tasks that have just been started, may still be there and
	// is then named too.
	if _, holds, _ := strings.Cut(s.log.String(), "held by "); !strings.Contains(holds,
		`\"beside\"`) {
		t.Errorf("log\n%s\nwant the hold named", s.log)
	}
}
