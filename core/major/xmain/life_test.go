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

	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestLifeGoesThroughItsStagesInOrder(t *testing.T) {
	tr := &trace{}
	s := prepare(t, node(tr, "node"))
	note := func(what string) xhook.Func {
		return func(context.Context) error { tr.add(what); return nil }
	}
	s.Life().OnStart("a", note("start"))
	s.Life().OnReady("a", note("ready"))
	s.Life().OnDrain("a", note("drain"))
	s.Life().OnShutdown("a", note("shutdown"))
	s.Life().OnStop("a", note("stop"))
	began := make(chan struct{})
	s.Life().OnReady("wait", func(context.Context) error { <-began; return nil })
	s.start(func(ctx context.Context, _ ...any) {
		close(began)
		<-ctx.Done()
		tr.add("task")
	})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if want := "start, ready, drain, shutdown, task, stop, close node"; tr.String() != want {
		t.Errorf("order = %s, want %s", tr, want)
	}
	if _, _, err := s.get("/ok"); err == nil {
		t.Error("the service still answers")
	}
}

func TestRequestInFlightIsFinishedAndItsContextLives(t *testing.T) {
	tr := &trace{}
	entered, release := make(chan struct{}), make(chan struct{})
	s := prepare(t, node(tr, "node"), xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/slow", func(c *gin.Context) {
			close(entered)
			<-release
			if err := c.Request.Context().Err(); err != nil {
				t.Errorf("context of the request = %v, want it alive", err)
			}
			tr.add("answer")
			xresult.Success(c, "slow")
		})
	})).start()
	type answer struct {
		status int
		close  string
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		status, header, err := s.get("/slow")
		got <- answer{status, header.Get("Connection"), err}
	}()
	wait(t, entered, "the request")
	s.cancel()
	wait(t, s.Life().Draining(), "the stop")
	refused(t, s)
	close(release)
	if a := <-got; a.err != nil || a.status != http.StatusOK {
		t.Errorf("answer = %+v, want 200", a)
	}
	if err := s.result(); err != nil {
		t.Error(err)
	}
	if want := "answer, close node"; tr.String() != want {
		t.Errorf("order = %s, want %s", tr, want)
	}
}

// refused waits until new connections are refused.
func refused(t *testing.T, s *service) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp",
			strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		_ = c.Close()
	}
	t.Fatal("connections are still accepted")
}

func TestDrainStillServesAndClosesKeepAliveConnections(t *testing.T) {
	s := prepare(t, nil)
	release := make(chan struct{})
	s.Life().OnDrain("hold", func(context.Context) error { <-release; return nil })
	s.start()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: patience}
	defer client.CloseIdleConnections()
	ask := func(path string, status int, closes bool) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status || resp.Close != closes {
			t.Errorf("%s = %d, closes %t; want %d, %t",
				path, resp.StatusCode, resp.Close, status, closes)
		}
	}
	ask("/ok", http.StatusOK, false)
	ask("/readyz", http.StatusOK, false)
	s.cancel()
	wait(t, s.Life().Draining(), "the stop")
	ask("/readyz", http.StatusServiceUnavailable, true)
	ask("/healthz", http.StatusOK, true)
	ask("/ok", http.StatusOK, true)
	close(release)
	if err := s.result(); err != nil {
		t.Error(err)
	}
}

func TestReadinessIsNoUntilTheReadyHooksHaveRun(t *testing.T) {
	s := prepare(t, nil)
	listening, release := make(chan struct{}), make(chan struct{})
	s.Life().OnReady("slow", func(context.Context) error {
		close(listening)
		<-release
		return nil
	})
	s.run()
	wait(t, listening, "the listener")
	s.untilReadyz(http.StatusServiceUnavailable)
	close(release)
	s.untilReadyz(http.StatusOK)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestTaskThatReturnsIsDone(t *testing.T) {
	s := prepare(t, nil).start(func(context.Context, ...any) {})
	if status, _, err := s.get("/ok"); err != nil || status != http.StatusOK {
		t.Errorf("/ok = %d, %v; want the service to go on", status, err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestPanicOfATaskEndsTheServiceInOrder(t *testing.T) {
	tr := &trace{}
	cause := errors.New("cause")
	s := prepare(t, node(tr, "node"))
	began := make(chan struct{})
	s.run(func(ctx context.Context, _ ...any) {
		close(began)
		<-ctx.Done()
		tr.add("other task")
	}, func(context.Context, ...any) {
		<-began
		panic(cause)
	})
	err := s.result()
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "TestPanicOfATask") {
		t.Errorf("RunContext = %v, want the cause and the task's name", err)
	}
	if want := "other task, close node"; tr.String() != want {
		t.Errorf("order = %s, want %s", tr, want)
	}
	if !strings.Contains(s.log.String(), "life_test.go") {
		t.Errorf("log\n%s\nhas no stack", s.log)
	}
}

func TestFailEndsTheServiceWithItsError(t *testing.T) {
	cause := errors.New("port of gRPC in use")
	s := prepare(t, nil)
	s.run(func(ctx context.Context, _ ...any) { xhook.Fail(ctx, cause) })
	if err := s.result(); !errors.Is(err, cause) {
		t.Errorf("RunContext = %v, want the cause", err)
	}
}

func TestFailureDuringTheStopIsReported(t *testing.T) {
	cause := errors.New("late")
	s := prepare(t, nil).start(func(ctx context.Context, _ ...any) {
		<-ctx.Done()
		panic(cause)
	})
	if err := s.stop(); !errors.Is(err, cause) {
		t.Errorf("RunContext = %v, want the cause", err)
	}
}

func TestHookThatFailsEndsTheStart(t *testing.T) {
	cause := errors.New("cause")
	for _, tc := range []struct {
		name string
		add  func(*xhook.Lifecycle, string, xhook.Func) bool
	}{
		{name: "start", add: (*xhook.Lifecycle).OnStart},
		{name: "ready", add: (*xhook.Lifecycle).OnReady},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := &trace{}
			s := prepare(t, node(tr, "node"))
			tc.add(s.Life(), "mine", func(context.Context) error { return cause })
			s.run()
			err := s.result()
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), `hook "mine"`) {
				t.Errorf("RunContext = %v, want the hook's error", err)
			}
			if tr.String() != "close node" {
				t.Errorf("closed %s, want the node", tr)
			}
		})
	}
}

func TestPortInUseIsAnErrorThatNamesTheVariable(t *testing.T) {
	tr := &trace{}
	taken := prepare(t, nil).start()
	s := prepare(t, node(tr, "node"))
	if err := s.Settings().Listener.Close(); err != nil {
		t.Fatal(err)
	}
	late := []xoption.Option{
		xoption.WithAddress(strings.TrimPrefix(taken.url, "http://")),
		func(p *startup.Plan) {
			p.Settings = append(p.Settings, func(s *startup.Settings) { s.Listener = nil })
		},
	}
	err := xmain.Run(s.Reg, nil, late, func(context.Context, ...any) { tr.add("task") })
	if err == nil || !strings.Contains(err.Error(), "PLINTH_PORT") ||
		!strings.Contains(err.Error(), "address already in use") {
		t.Errorf("Run = %v, want PLINTH_PORT and the reason", err)
	}
	if tr.String() != "close node" {
		t.Errorf("%s; want the node closed and no task", tr)
	}
	if err := taken.stop(); err != nil {
		t.Error(err)
	}
}

func TestNilTaskIsAnError(t *testing.T) {
	s := prepare(t, nil)
	s.run(nil)
	if err := s.result(); err == nil || !strings.Contains(err.Error(), "task 1 is nil") {
		t.Errorf("RunContext = %v, want the task named", err)
	}
}

func TestEndOfTheContextOfRegisterBeginsTheStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reg, err := xreg.New(ctx, nil, quiet(t))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- xmain.Run(reg, nil, nil) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestRunnerExitsWith1AndWritesOneLineForEachProblem(t *testing.T) {
	one, two := errors.New("first problem"), errors.New("second problem")
	s := prepare(t, nil)
	s.Life().OnStop("a", func(context.Context) error { return one })
	s.Life().OnStop("b", func(context.Context) error { return two })
	code := -1
	defer xmain.SetExit(func(c int) { code = c })()
	xmain.Runner(s.Reg, nil, nil,
		func(ctx context.Context, _ ...any) { xhook.Fail(ctx, errors.New("third problem")) })
	if code != 1 {
		t.Errorf("exit code = %d, want 1", code)
	}
	for _, problem := range []string{"first problem", "second problem", "third problem"} {
		if n := strings.Count(s.log.String(), problem); n != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", problem, n, s.log)
		}
	}
}

func TestRunnerReturnsWhereNothingWentWrong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reg, err := xreg.New(ctx, nil, quiet(t))
	if err != nil {
		t.Fatal(err)
	}
	defer xmain.SetExit(func(c int) { t.Errorf("exit with %d", c) })()
	xmain.Runner(reg, nil, nil, func(context.Context, ...any) { cancel() })
}

func TestOptionsOfTheRunnerAreAppliedBeforeServing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reg, err := xreg.New(ctx, nil, quiet(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	late := xoption.WithRoute(func(context.Context, *gin.Engine) { seen = true })
	if err := xmain.RunContext(ctx, reg, nil, []xoption.Option{late},
		func(context.Context, ...any) {
			if !seen {
				t.Error("the task began before the option was applied")
			}
			cancel()
		}); err != nil {
		t.Error(err)
	}
	if err := xmain.Run(reg, nil, nil); err == nil {
		t.Error("Run of a closed application = nil, want an error")
	}
}
