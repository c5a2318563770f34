package xmain_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// quiet returns options for an application on a free port without log output.
func quiet(t *testing.T) xoption.Option {
	t.Helper()
	engine, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return xoption.WithOptions(
		xoption.WithoutEnvFile(), xoption.WithLogger(engine),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
	)
}

// shortTimeout is a shutdown timeout that expires within a test.
const shortTimeout = 500 * time.Millisecond

func TestRunContext_ShutdownTimeout(t *testing.T) {
	t.Run("requests are force-closed", func(t *testing.T) {
		tr := &trace{}
		entered := make(chan struct{})
		const timeout = 4 * shortTimeout // gives the handler 200 ms to return on a busy machine
		s := prepare(t, node(tr, "node"), xoption.WithShutdownTimeout(timeout),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/endless", func(c *gin.Context) {
					close(entered)
					<-c.Request.Context().Done()
					tr.add("handler returned")
				})
			})).start()
		go func() { _, _, _ = s.get("/endless") }()
		wait(t, entered, "the request")
		start := time.Now()
		err := s.stop()
		if err == nil || !strings.Contains(err.Error(), "requests force-closed: 1") {
			t.Errorf("RunContext = %v, want the force-closed request", err)
		}
		if elapsed := time.Since(start); elapsed > timeout+20*time.Second {
			t.Errorf("the shutdown took %s", elapsed)
		}
		if want := "handler returned, close node"; tr.String() != want {
			t.Errorf("order = %s, want %s", tr, want)
		}
	})

	t.Run("the cancellation cause is SERVICE_UNAVAILABLE", func(t *testing.T) {
		entered := make(chan struct{})
		var cause error
		s := prepare(t, nil, xoption.WithShutdownTimeout(shortTimeout),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/endless", func(c *gin.Context) {
					close(entered)
					<-c.Request.Context().Done()
					cause = context.Cause(c.Request.Context())
				})
			})).start()
		go func() { _, _, _ = s.get("/endless") }()
		wait(t, entered, "the request")
		_ = s.stop()
		if xerror.From(cause).GetErrorCode() != xerror.ServiceUnavailable ||
			!errors.Is(cause, context.Canceled) {
			t.Errorf("cause = %v, want SERVICE_UNAVAILABLE and context.Canceled", cause)
		}
	})

	t.Run("tasks and hooks that hang are abandoned", func(t *testing.T) {
		if testing.Short() {
			t.Skip("waits")
		}
		release := make(chan struct{})
		defer close(release)
		hang := func(ctx context.Context) error { <-release; return ctx.Err() }
		tr := &trace{}
		for _, tc := range []struct {
			name  string
			hooks func(*xhook.Lifecycle)
			tasks []xmain.Task
			want  string
		}{
			{
				name: "task", tasks: []xmain.Task{func(context.Context, ...any) { <-release }},
				want: "tasks are still running",
			},
			{
				name: "drain hook", hooks: func(l *xhook.Lifecycle) { l.OnDrain("hang", hang) },
				want: `drain hook "hang": still running`,
			},
			{name: "shutdown hook", hooks: func(l *xhook.Lifecycle) {
				l.OnShutdown("hang", hang)
			}, want: `shutdown hook "hang": still running`},
			{
				name: "stop hook", hooks: func(l *xhook.Lifecycle) { l.OnStop("hang", hang) },
				want: `stop hook "hang": still running`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := prepare(t, node(tr, tc.name), xoption.WithShutdownTimeout(shortTimeout))
				if tc.hooks != nil {
					tc.hooks(s.Lifecycle())
				}
				s.start(tc.tasks...)
				start := time.Now()
				err := s.stop()
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("RunContext = %v, want %s", err, tc.want)
				}
				if elapsed := time.Since(start); elapsed > shortTimeout+20*time.Second {
					t.Errorf("the shutdown took %s", elapsed)
				}
			})
		}
		// a stop hook that hangs uses all of the remaining time
		if tr.String() != "close task, close drain hook, close shutdown hook" {
			t.Logf("closed: %s", tr)
		}
	})
}

func TestDraining_Stream(t *testing.T) {
	entered := make(chan struct{})
	s := prepare(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/events", func(c *gin.Context) {
			c.Writer.Flush()
			close(entered)
			<-xhook.Draining(c)
		})
	})).start()
	got := make(chan error, 1)
	go func() {
		_, _, err := s.get("/events")
		got <- err
	}()
	wait(t, entered, "the stream")
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Errorf("client = %v, want the end of the stream", err)
	}
}

// firstAcceptFails is a listener whose first Accept fails.
type firstAcceptFails struct {
	net.Listener
	err  error
	done bool
}

func (o *firstAcceptFails) Accept() (net.Conn, error) {
	if !o.done {
		o.done = true
		return nil, o.err
	}
	return o.Listener.Accept()
}

// temporaryError is an error after which net/http retries Accept.
type temporaryError struct{ error }

func (temporaryError) Timeout() bool   { return true }
func (temporaryError) Temporary() bool { return true }

// withAcceptError makes the first Accept of the service's listener fail.
func withAcceptError(err error) xoption.Option {
	return func(p *startup.Plan) {
		p.Settings = append(p.Settings,
			func(s *startup.Settings) {
				s.Listener = &firstAcceptFails{Listener: s.Listener, err: err}
			})
	}
}

func TestRunContext_Listener(t *testing.T) {
	t.Run("errors of net/http are logged", func(t *testing.T) {
		s := prepare(t, nil, withAcceptError(
			temporaryError{errors.New("no file descriptors")})).start()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(s.log.String(), "no file descriptors") ||
			!strings.Contains(s.log.String(), `"level":"warn"`) {
			t.Errorf("log\n%s\nwant the line of net/http", s.log)
		}
	})

	t.Run("a broken listener stops the service", func(t *testing.T) {
		broken := errors.New("broken")
		s := prepare(t, nil, withAcceptError(broken))
		s.run()
		if err := s.result(); !errors.Is(err, broken) {
			t.Errorf("RunContext = %v, want the listener's error", err)
		}
	})

	t.Run("the error of Close is returned", func(t *testing.T) {
		s := prepare(t, nil, func(p *startup.Plan) {
			p.Settings = append(p.Settings, func(s *startup.Settings) {
				if l, ok := s.Listener.(*net.TCPListener); ok {
					s.Listener = closeFails{l}
				}
			})
		}).start()
		if err := s.stop(); !errors.Is(err, errClose) {
			t.Errorf("RunContext = %v, want the error of Close", err)
		}
	})
}

// closeFails is a listener whose Close fails.
type closeFails struct{ *net.TCPListener }

func (s closeFails) Close() error {
	return errors.Join(errClose, s.TCPListener.Close())
}

var errClose = errors.New("close failed")

func TestListener_StopAccepting(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, _ = io.WriteString(client, "hello\n")
	l, stopAccepting := xmain.Wrap(inner)
	// in case Accept blocks
	defer time.AfterFunc(5*time.Second, func() { _ = l.Close() }).Stop()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	stopAccepting(canceled) // returns without an Accept
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("Accept = %v, want the connection from the queue", err)
	}
	defer func() { _ = conn.Close() }()
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("read %q, %v; want what the client sent", line, err)
	}
	last := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		last <- err
	}()
	stopAccepting(t.Context()) // until the queue is empty
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err == nil {
		t.Error("a new connection was not refused")
	}
	_ = l.Close()
	if err := <-last; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, want net.ErrClosed after Close", err)
	}
}

// raw sends text on a new connection and returns all data until the server closes it.
func (s *service) raw(text string) string {
	s.t.Helper()
	c, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp",
		strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(testTimeout))
	_, _ = io.WriteString(c, text)
	var all bytes.Buffer
	_, err = io.Copy(&all, c)
	if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		s.t.Errorf("the server left the connection open; received %q", all.String())
	}
	return all.String()
}

func TestRunContext_ServerLimits(t *testing.T) {
	t.Run("incomplete requests and idle connections time out", func(t *testing.T) {
		s := prepare(t, nil, xoption.WithServer(func(h *http.Server) {
			h.ReadHeaderTimeout = 100 * time.Millisecond
			h.ReadTimeout = 200 * time.Millisecond
			h.IdleTimeout = 100 * time.Millisecond
		}), xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.POST("/read", func(c *gin.Context) {
				_, err := io.ReadAll(c.Request.Body)
				c.String(http.StatusOK, fmt.Sprint(err))
			})
		})).start()
		s.raw("GET /ok HTTP/1.1\r\nHost: x\r\nX-Half: ")
		got := s.raw("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
		if !strings.Contains(got, "i/o timeout") {
			t.Errorf("half a body = %q, want the handler to see a timeout", got)
		}
		got = s.raw("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("idle connection = %q, want a response and then EOF", got)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("a header over 64 KiB is rejected", func(t *testing.T) {
		s := prepare(t, nil).start()
		got := s.raw("GET /ok HTTP/1.1\r\nHost: x\r\nX-Big: " +
			strings.Repeat("x", 70<<10) + "\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 431") {
			t.Errorf("response = %.40q, want 431", got)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunContext_Banner(t *testing.T) {
	var terminal buffer
	defer xmain.SetTerminal(&terminal)()
	s := prepare(t, nil, xoption.WithDebug(true), func(p *startup.Plan) {
		p.Database = func(*startup.Plan) *startup.Phase {
			return &startup.Phase{
				Name:   "database",
				Key:    xctx.DatabaseKey,
				Start:  func(context.Context) (any, error) { return nil, nil },
				Detail: func() string { return "postgres app:***@db/app" },
			}
		}
	}).start()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"plinth ", "go ", "gin ", s.url, "postgres app:***@db/app",
		"datacenter 0, node 1", "GET     /ok", "/readyz",
	} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("banner\n%s\nlacks %q", &terminal, want)
		}
	}
}

func TestRunContext_WithServer(t *testing.T) {
	changes := 0
	s := prepare(t, nil, xoption.WithServer(func(*http.Server) { changes++ }))
	if changes != 0 {
		t.Errorf("New changed the server %d times, want 0", changes)
	}
	s.runnerOptions = append(s.runnerOptions,
		xoption.WithServer(func(h *http.Server) { h.MaxHeaderBytes = 1 << 10 }))
	if err := s.start().stop(); err != nil {
		t.Error(err)
	}
	if changes != 1 {
		t.Errorf("the server was changed %d times, want once", changes)
	}
}
