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

func TestRunContext_Lifecycle(t *testing.T) {
	t.Run("phases run in order", func(t *testing.T) {
		tr := &trace{}
		s := prepare(t, node(tr, "node"))
		record := func(event string) xhook.Func {
			return func(context.Context) error { tr.add(event); return nil }
		}
		s.Lifecycle().OnStart("a", record("start"))
		s.Lifecycle().OnReady("a", record("ready"))
		s.Lifecycle().OnDrain("a", record("drain"))
		s.Lifecycle().OnShutdown("a", record("shutdown"))
		s.Lifecycle().OnStop("a", record("stop"))
		started := make(chan struct{})
		s.Lifecycle().OnReady("wait", func(context.Context) error { <-started; return nil })
		s.start(func(ctx context.Context, _ ...any) {
			close(started)
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
			t.Error("the service still responds")
		}
	})

	t.Run("the service is not ready until the ready hooks have run", func(t *testing.T) {
		s := prepare(t, nil)
		listening, release := make(chan struct{}), make(chan struct{})
		s.Lifecycle().OnReady("slow", func(context.Context) error {
			close(listening)
			<-release
			return nil
		})
		s.run()
		wait(t, listening, "the listener")
		s.awaitReadyz(http.StatusServiceUnavailable)
		close(release)
		s.awaitReadyz(http.StatusOK)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunContext_Drain(t *testing.T) {
	t.Run("in-flight requests finish and their contexts are not canceled", func(t *testing.T) {
		tr := &trace{}
		entered, release := make(chan struct{}), make(chan struct{})
		s := prepare(t, node(tr, "node"), xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/slow", func(c *gin.Context) {
				close(entered)
				<-release
				if err := c.Request.Context().Err(); err != nil {
					t.Errorf("context of the request = %v, want nil", err)
				}
				tr.add("response")
				xresult.Success(c, "slow")
			})
		})).start()
		type response struct {
			status int
			close  string
			err    error
		}
		got := make(chan response, 1)
		go func() {
			status, header, err := s.get("/slow")
			got <- response{status, header.Get("Connection"), err}
		}()
		wait(t, entered, "the request")
		s.cancel()
		wait(t, s.Lifecycle().Draining(), "the shutdown")
		awaitRefused(t, s)
		close(release)
		if r := <-got; r.err != nil || r.status != http.StatusOK {
			t.Errorf("response = %+v, want 200", r)
		}
		if err := s.result(); err != nil {
			t.Error(err)
		}
		if want := "response, close node"; tr.String() != want {
			t.Errorf("order = %s, want %s", tr, want)
		}
	})

	t.Run("requests are served and keep-alive connections are closed", func(t *testing.T) {
		s := prepare(t, nil)
		release := make(chan struct{})
		s.Lifecycle().OnDrain("hold", func(context.Context) error { <-release; return nil })
		s.start()
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: testTimeout}
		defer client.CloseIdleConnections()
		checkGet := func(path string, status int, closes bool) {
			t.Helper()
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path,
				http.NoBody)
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
		checkGet("/ok", http.StatusOK, false)
		checkGet("/readyz", http.StatusOK, false)
		s.cancel()
		wait(t, s.Lifecycle().Draining(), "the shutdown")
		checkGet("/readyz", http.StatusServiceUnavailable, true)
		checkGet("/healthz", http.StatusOK, true)
		checkGet("/ok", http.StatusOK, true)
		close(release)
		if err := s.result(); err != nil {
			t.Error(err)
		}
	})
}

// awaitRefused waits until new connections are refused.
func awaitRefused(t *testing.T, s *service) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp",
			strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		_ = c.Close()
	}
	t.Fatal("connections are still accepted")
}

func TestRunContext_Tasks(t *testing.T) {
	t.Run("a task can return early", func(t *testing.T) {
		s := prepare(t, nil).start(func(context.Context, ...any) {})
		if status, _, err := s.get("/ok"); err != nil || status != http.StatusOK {
			t.Errorf("/ok = %d, %v; want the service to continue", status, err)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("a panic shuts the service down gracefully", func(t *testing.T) {
		tr := &trace{}
		cause := errors.New("cause")
		s := prepare(t, node(tr, "node"))
		started := make(chan struct{})
		s.run(func(ctx context.Context, _ ...any) {
			close(started)
			<-ctx.Done()
			tr.add("other task")
		}, func(context.Context, ...any) {
			<-started
			panic(cause)
		})
		err := s.result()
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "TestRunContext_Tasks") {
			t.Errorf("RunContext = %v, want the cause and the task's name", err)
		}
		if want := "other task, close node"; tr.String() != want {
			t.Errorf("order = %s, want %s", tr, want)
		}
		if !strings.Contains(s.log.String(), "runner_test.go") {
			t.Errorf("log\n%s\nwant a stack", s.log)
		}
	})

	t.Run("a nil task is an error", func(t *testing.T) {
		s := prepare(t, nil)
		s.run(nil)
		if err := s.result(); err == nil || !strings.Contains(err.Error(), "task 1 is nil") {
			t.Errorf("RunContext = %v, want the task number", err)
		}
	})
}

func TestRunContext_Failure(t *testing.T) {
	t.Run("Fail stops the service and its error is returned", func(t *testing.T) {
		cause := errors.New("port of gRPC in use")
		s := prepare(t, nil)
		s.run(func(ctx context.Context, _ ...any) { xhook.Fail(ctx, cause) })
		if err := s.result(); !errors.Is(err, cause) {
			t.Errorf("RunContext = %v, want the cause", err)
		}
	})

	t.Run("a failure during the shutdown is returned", func(t *testing.T) {
		cause := errors.New("late")
		s := prepare(t, nil).start(func(ctx context.Context, _ ...any) {
			<-ctx.Done()
			panic(cause)
		})
		if err := s.stop(); !errors.Is(err, cause) {
			t.Errorf("RunContext = %v, want the cause", err)
		}
	})

	t.Run("a failed hook aborts the startup", func(t *testing.T) {
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
				tc.add(s.Lifecycle(), "fails", func(context.Context) error { return cause })
				s.run()
				err := s.result()
				if !errors.Is(err, cause) || !strings.Contains(err.Error(), `hook "fails"`) {
					t.Errorf("RunContext = %v, want the hook's error", err)
				}
				if tr.String() != "close node" {
					t.Errorf("closed %s, want the node", tr)
				}
			})
		}
	})
}

func TestRun(t *testing.T) {
	t.Run("a port in use is an error that names the variable", func(t *testing.T) {
		tr := &trace{}
		first := prepare(t, nil).start()
		s := prepare(t, node(tr, "node"))
		if err := s.Settings().Listener.Close(); err != nil {
			t.Fatal(err)
		}
		late := []xoption.Option{
			xoption.WithAddress(strings.TrimPrefix(first.url, "http://")),
			func(p *startup.Plan) {
				p.Settings = append(p.Settings, func(s *startup.Settings) { s.Listener = nil })
			},
		}
		err := xmain.Run(s.Reg, nil, late, func(context.Context, ...any) { tr.add("task") })
		if err == nil || !strings.Contains(err.Error(), "PLINTH_PORT") ||
			!strings.Contains(err.Error(), "address already in use") {
			t.Errorf("Run = %v, want PLINTH_PORT and the cause", err)
		}
		if tr.String() != "close node" {
			t.Errorf("trace = %s; want the node closed and no task", tr)
		}
		if err := first.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("returns nil when the context of New ends", func(t *testing.T) {
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
	})
}

func TestRunner(t *testing.T) {
	t.Run("exits with 1 and logs each error once", func(t *testing.T) {
		one, two := errors.New("first problem"), errors.New("second problem")
		s := prepare(t, nil)
		s.Lifecycle().OnStop("a", func(context.Context) error { return one })
		s.Lifecycle().OnStop("b", func(context.Context) error { return two })
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
	})

	t.Run("returns after a graceful shutdown", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		reg, err := xreg.New(ctx, nil, quiet(t))
		if err != nil {
			t.Fatal(err)
		}
		defer xmain.SetExit(func(c int) { t.Errorf("exit with %d", c) })()
		xmain.Runner(reg, nil, nil, func(context.Context, ...any) { cancel() })
	})
}

func TestRunContext_Options(t *testing.T) {
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
				t.Error("the task started before the option was applied")
			}
			cancel()
		}); err != nil {
		t.Error(err)
	}
	if err := xmain.Run(reg, nil, nil); err == nil {
		t.Error("Run of a closed application = nil, want an error")
	}
}
