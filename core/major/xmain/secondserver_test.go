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

// secondServer is another HTTP server that a task runs, like a server of another
// transport.
type secondServer struct {
	listener         net.Listener
	entered, release chan struct{} // of the only request
	onResponse       func()        // called before the response; may be nil
}

func newSecondServer(t *testing.T) *secondServer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &secondServer{listener: l, entered: make(chan struct{}), release: make(chan struct{})}
}

func (b *secondServer) serve(ctx context.Context, _ ...any) {
	release, _ := xhook.HoldReady(ctx, "second")
	defer release()
	server := &http.Server{
		ReadHeaderTimeout: testTimeout,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(b.entered)
			<-b.release
			if b.onResponse != nil {
				b.onResponse()
			}
		}),
	}
	if !xhook.OnShutdown(ctx, "second", func(ctx context.Context) error {
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	}) {
		_ = b.listener.Close() // the shutdown has already started
		return
	}
	release()
	if err := server.Serve(b.listener); !errors.Is(err, http.ErrServerClosed) {
		xhook.Fail(ctx, err)
	}
}

func TestRunContext_SecondServer(t *testing.T) {
	tr := &trace{}
	s, b := prepare(t, node(tr, "node")), newSecondServer(t)
	b.onResponse = func() { tr.add("response") }
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
	wait(t, s.Lifecycle().Draining(), "the shutdown")
	awaitRefused(t, s)
	if s.Init.Ctx.Err() != nil {
		t.Error("the tasks' context ended before the second server's request")
	}
	close(b.release)
	if err := <-got; err != nil {
		t.Errorf("request to the second server = %v, want a response", err)
	}
	if err := s.result(); err != nil {
		t.Error(err)
	}
	if tr.String() != "response, close node" {
		t.Errorf("order = %s, want the response first", tr)
	}
}

func TestRunContext_DrainDelay(t *testing.T) {
	const delay = 100 * time.Millisecond
	s := prepare(t, nil, xoption.WithDrainDelay(delay))
	s.start()
	s.Lifecycle().StartDrain()
	start := time.Now()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if elapsed := time.Since(start); elapsed < delay {
		t.Errorf("the shutdown took %s, want at least the drain delay of %s", elapsed, delay)
	}
}

func TestRunContext_ShutdownHooks(t *testing.T) {
	t.Run("run after the drain delay while requests are drained", func(t *testing.T) {
		const delay = 100 * time.Millisecond
		entered, release := make(chan struct{}), make(chan struct{})
		hookRunning, responded := make(chan struct{}), make(chan struct{})
		s := prepare(t, nil, xoption.WithDrainDelay(delay),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/slow", func(c *gin.Context) {
					close(entered)
					<-release
					xresult.Success(c, "slow")
				})
			}))
		var drainHookTime, shutdownHookTime time.Time
		s.Lifecycle().OnDrain("a",
			func(context.Context) error { drainHookTime = time.Now(); return nil })
		s.Lifecycle().OnShutdown("a", func(context.Context) error {
			shutdownHookTime = time.Now()
			// The request is in flight until this hook runs, and this hook waits for the
			// request.
			close(hookRunning)
			<-responded
			return s.Init.Ctx.Err()
		})
		s.start()
		go func() {
			defer close(responded)
			if status, _, err := s.get("/slow"); err != nil || status != http.StatusOK {
				t.Errorf("request in flight = %d, %v; want 200", status, err)
			}
		}()
		wait(t, entered, "the request")
		s.cancel()
		wait(t, hookRunning, "the shutdown hook")
		awaitRefused(t, s)
		close(release)
		if err := s.result(); err != nil {
			t.Error(err)
		}
		if got := shutdownHookTime.Sub(drainHookTime); got < delay {
			t.Errorf("the shutdown hook ran %s after the drain hook, want at least %s", got, delay)
		}
	})

	t.Run("time out with the requests and before the tasks", func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		s := prepare(t, nil, xoption.WithShutdownTimeout(shortTimeout),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/endless", func(c *gin.Context) {
					close(entered)
					<-c.Request.Context().Done()
				})
			}))
		tr := &trace{}
		deadline := make(chan time.Time, 1)
		s.Lifecycle().OnShutdown("returns", func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			deadline <- end
			return s.Init.Ctx.Err()
		})
		s.Lifecycle().OnShutdown("hangs", func(context.Context) error { <-release; return nil })
		s.start(func(ctx context.Context, _ ...any) {
			<-ctx.Done()
			tr.add("task")
		})
		go func() { _, _, _ = s.get("/endless") }()
		wait(t, entered, "the request")
		start := time.Now()
		err := s.stop()
		for _, want := range []string{
			"requests force-closed: 1",
			`shutdown hook "hangs": still running`,
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("RunContext = %v, want %s", err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "tasks are still running") {
			t.Errorf("RunContext = %v, want the task to have returned", err)
		}
		if elapsed := time.Since(start); elapsed > shortTimeout+20*time.Second {
			t.Errorf("the shutdown took %s", elapsed)
		}
		minimum := shortTimeout - s.Settings().Reserve()
		if got := (<-deadline).Sub(start); got < minimum || got >= shortTimeout+20*time.Second {
			t.Errorf("the deadline of the hook is %s after the start of the shutdown, "+
				"want that of the requests, %s", got, minimum)
		}
		if tr.String() != "task" {
			t.Errorf("returned: %s, want the task", tr)
		}
	})

	t.Run("run if the service never became ready", func(t *testing.T) {
		cause := errors.New("cause")
		fail := func(context.Context) error { return cause }
		for _, tc := range []struct {
			name  string
			set   func(*xhook.Lifecycle)
			tasks []xmain.Task
		}{
			{name: "failed start hook", set: func(l *xhook.Lifecycle) { l.OnStart("a", fail) }},
			{name: "nil task", set: func(*xhook.Lifecycle) {}, tasks: []xmain.Task{nil}},
			{name: "failed ready hook", set: func(l *xhook.Lifecycle) { l.OnReady("a", fail) }},
			{name: "failure", set: func(l *xhook.Lifecycle) { l.Fail(cause) }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				tr := &trace{}
				s := prepare(t, node(tr, "node"))
				s.Lifecycle().OnShutdown("a",
					func(context.Context) error { tr.add("shutdown"); return nil })
				tc.set(s.Lifecycle())
				s.run(tc.tasks...)
				if err := s.result(); err == nil {
					t.Error("RunContext = nil, want an error")
				}
				if tr.String() != "shutdown, close node" {
					t.Errorf("order = %s, want the shutdown hook and the node", tr)
				}
			})
		}
	})

	t.Run("every panic is logged with its stack", func(t *testing.T) {
		s := prepare(t, nil)
		for _, name := range []string{"first panic", "second panic"} {
			s.Lifecycle().OnShutdown(name, func(context.Context) error { panic(name) })
		}
		s.start()
		err := s.stop()
		var p *xhook.PanicError
		if !errors.As(err, &p) || !strings.Contains(err.Error(),
			`shutdown hook "first panic": panic: first panic`) {
			t.Errorf("RunContext = %v, want both panics", err)
		}
		for _, name := range []string{"first panic", "second panic"} {
			if n := strings.Count(s.log.String(), `"panic":"`+name+`"`); n != 1 {
				t.Errorf("%q is logged %d times, want once:\n%s", name, n, s.log)
			}
		}
		if !strings.Contains(s.log.String(), "secondserver_test.go") {
			t.Errorf("log\n%s\nwant a stack", s.log)
		}
	})
}

func TestRunContext_HoldReady(t *testing.T) {
	t.Run("a task delays readiness until it releases its hold", func(t *testing.T) {
		s := prepare(t, nil)
		holding, listen := make(chan struct{}), make(chan struct{})
		s.run(func(ctx context.Context, _ ...any) {
			release, held := xhook.HoldReady(ctx, "second")
			if !held {
				t.Error("HoldReady = false, want a hold")
			}
			close(holding)
			<-listen
			release()
			<-xhook.Ready(ctx)
		})
		wait(t, holding, "HoldReady")
		s.awaitReadyz(http.StatusServiceUnavailable)
		close(listen)
		wait(t, s.Lifecycle().Ready(), "readiness")
		s.awaitReadyz(http.StatusOK)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("a task that starts late can hold readiness", func(t *testing.T) {
		s := prepare(t, nil)
		s.run(func(ctx context.Context, _ ...any) {
			<-time.After(50 * time.Millisecond) // simulates a busy machine
			if _, held := xhook.HoldReady(ctx, "second"); !held {
				t.Error("HoldReady = false, want a hold")
			}
			xhook.Fail(ctx, errors.New("seen"))
		})
		_ = s.result()
	})

	t.Run("a task without a hold does not prevent readiness", func(t *testing.T) {
		s := prepare(t, nil)
		end := make(chan struct{})
		s.run(func(context.Context, ...any) { <-end })
		wait(t, s.Lifecycle().Ready(), "readiness")
		close(end)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("a failure during a hold aborts the startup", func(t *testing.T) {
		cause := errors.New("port in use")
		// must not apply to a service that never became ready
		s := prepare(t, nil, xoption.WithDrainDelay(15*time.Second))
		s.Lifecycle().OnReady("a", func(context.Context) error {
			t.Error("the ready hook ran")
			return nil
		})
		s.run(func(ctx context.Context, _ ...any) {
			if _, held := xhook.HoldReady(ctx, "second"); !held {
				t.Error("HoldReady = false, want a hold")
			}
			xhook.Fail(ctx, cause)
		})
		start := time.Now()
		if err := s.result(); !errors.Is(err, cause) ||
			strings.Count(err.Error(), cause.Error()) != 1 {
			t.Errorf("RunContext = %v, want the failure once", err)
		}
		if elapsed := time.Since(start); elapsed > 10*time.Second {
			t.Errorf("startup and shutdown took %s", elapsed)
		}
		select {
		case <-s.Lifecycle().Ready():
			t.Error("the service became ready")
		default:
		}
		if strings.Contains(s.log.String(), `"msg":"ready"`) {
			t.Errorf("log\n%s\nwant no line ready", s.log)
		}
	})

	t.Run("a panic during a hold is logged once", func(t *testing.T) {
		s := prepare(t, nil)
		s.run(func(ctx context.Context, _ ...any) {
			xhook.HoldReady(ctx, "second")
			panic("oops")
		})
		if err := s.result(); err == nil || !strings.Contains(err.Error(), "panic: oops") {
			t.Errorf("RunContext = %v, want the panic", err)
		}
		if n := strings.Count(s.log.String(), `"stack"`); n != 1 {
			t.Errorf("%d stacks are logged, want one:\n%s", n, s.log)
		}
	})

	t.Run("a stop request during a hold logs the hold and is not an error", func(t *testing.T) {
		s := prepare(t, nil)
		holding := make(chan struct{})
		s.run(func(ctx context.Context, _ ...any) {
			xhook.HoldReady(ctx, "second")
			close(holding)
			<-ctx.Done()
		})
		wait(t, holding, "HoldReady")
		if err := s.stop(); err != nil {
			t.Errorf("RunContext = %v, want nil", err)
		}
		// The log may also contain the hold of the runner itself.
		if _, holds, _ := strings.Cut(s.log.String(), "held by "); !strings.Contains(holds,
			`\"second\"`) {
			t.Errorf("log\n%s\nwant the hold name", s.log)
		}
	})
}
