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

// quiet returns options for an application that listens on a free port and logs nowhere.
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

// shortly is a shutdown timeout that runs out within a test.
const shortly = 500 * time.Millisecond

func TestRequestThatNeverEndsIsCutOffWhenTheTimeIsUp(t *testing.T) {
	tr := &trace{}
	entered := make(chan struct{})
	const timeout = 4 * shortly // which gives the handler 200 ms to return on a busy machine
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
	began := time.Now()
	err := s.stop()
	if err == nil || !strings.Contains(err.Error(), "1 requests were cut off") {
		t.Errorf("RunContext = %v, want the request that was cut off", err)
	}
	if took := time.Since(began); took > timeout+20*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if want := "handler returned, close node"; tr.String() != want {
		t.Errorf("order = %s, want %s", tr, want)
	}
}

func TestRequestThatIsCutOffIsNotItsClientsFault(t *testing.T) {
	entered := make(chan struct{})
	var cause error
	s := prepare(t, nil, xoption.WithShutdownTimeout(shortly),
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
		t.Errorf("cause = %v, want SERVICE_UNAVAILABLE that is also a cancellation", cause)
	}
}

func TestStreamThatWatchesTheStopEndsInOrder(t *testing.T) {
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
		t.Errorf("client = %v, want a stream that ended", err)
	}
}

func TestWhatDoesNotEndIsBoundedByTheTimeout(t *testing.T) {
	if testing.Short() {
		t.Skip("waits")
	}
	release := make(chan struct{})
	defer close(release)
	stubborn := func(ctx context.Context) error { <-release; return ctx.Err() }
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
			name: "drain hook", hooks: func(l *xhook.Lifecycle) { l.OnDrain("stubborn", stubborn) },
			want: `drain hook "stubborn": still running`,
		},
		{name: "shutdown hook", hooks: func(l *xhook.Lifecycle) {
			l.OnShutdown("stubborn", stubborn)
		}, want: `shutdown hook "stubborn": still running`},
		{
			name: "stop hook", hooks: func(l *xhook.Lifecycle) { l.OnStop("stubborn", stubborn) },
			want: `stop hook "stubborn": still running`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := prepare(t, node(tr, tc.name), xoption.WithShutdownTimeout(shortly))
			if tc.hooks != nil {
				tc.hooks(s.Life())
			}
			s.start(tc.tasks...)
			began := time.Now()
			err := s.stop()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("RunContext = %v, want %s", err, tc.want)
			}
			if took := time.Since(began); took > shortly+20*time.Second {
				t.Errorf("the stop took %s", took)
			}
		})
	}
	// a stop hook that hangs takes all the time that is left
	if tr.String() != "close task, close drain hook, close shutdown hook" {
		t.Logf("closed: %s", tr)
	}
}

// once is a listener whose first Accept fails.
type once struct {
	net.Listener
	err  error
	done bool
}

func (o *once) Accept() (net.Conn, error) {
	if !o.done {
		o.done = true
		return nil, o.err
	}
	return o.Listener.Accept()
}

// passing is an error that net/http takes for one that passes.
type passing struct{ error }

func (passing) Timeout() bool   { return true }
func (passing) Temporary() bool { return true }

// failing makes the first Accept of the service's listener fail.
func failing(err error) xoption.Option {
	return func(p *startup.Plan) {
		p.Settings = append(p.Settings,
			func(s *startup.Settings) { s.Listener = &once{Listener: s.Listener, err: err} })
	}
}

func TestLinesOfTheServerReachTheLog(t *testing.T) {
	s := prepare(t, nil, failing(passing{errors.New("no file descriptors")})).start()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.log.String(), "no file descriptors") ||
		!strings.Contains(s.log.String(), `"level":"warn"`) {
		t.Errorf("log\n%s\nwant the line of net/http", s.log)
	}
}

func TestListenerThatBreaksEndsTheService(t *testing.T) {
	broken := errors.New("broken")
	s := prepare(t, nil, failing(broken))
	s.run()
	if err := s.result(); !errors.Is(err, broken) {
		t.Errorf("RunContext = %v, want the listener's error", err)
	}
}

// stuck is a listener whose Close fails.
type stuck struct{ *net.TCPListener }

func (s stuck) Close() error {
	return errors.Join(errStuck, s.TCPListener.Close())
}

var errStuck = errors.New("stuck")

func TestErrorOfTheListenersCloseIsReported(t *testing.T) {
	s := prepare(t, nil, func(p *startup.Plan) {
		p.Settings = append(p.Settings, func(s *startup.Settings) {
			if l, ok := s.Listener.(*net.TCPListener); ok {
				s.Listener = stuck{l}
			}
		})
	}).start()
	if err := s.stop(); !errors.Is(err, errStuck) {
		t.Errorf("RunContext = %v, want the error of Close", err)
	}
}

func TestConnectionInTheQueueIsServedWhenNewOnesAreRefused(t *testing.T) {
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
	l, refuse := xmain.Wrap(inner)
	// of an Accept that would wait for ever
	defer time.AfterFunc(5*time.Second, func() { _ = l.Close() }).Stop()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	refuse(ended) // nobody calls Accept yet
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
	refuse(t.Context()) // until the queue is empty
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp",
		inner.Addr().String()); err == nil {
		t.Error("a new connection was not refused")
	}
	_ = l.Close()
	if err := <-last; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, want net.ErrClosed after Close", err)
	}
}

// raw sends text over a connection of its own and returns everything that comes back
// until the server closes.
func (s *service) raw(text string) string {
	s.t.Helper()
	c, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp",
		strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, text)
	var all bytes.Buffer
	_, err = io.Copy(&all, c)
	if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		s.t.Errorf("the server left the connection open; it said %q", all.String())
	}
	return all.String()
}

func TestHalfSentRequestsAndIdleConnectionsAreEnded(t *testing.T) {
	s := prepare(t, nil, xoption.WithServer(func(h *http.Server) {
		h.ReadHeaderTimeout, h.ReadTimeout, h.IdleTimeout = 100*time.Millisecond,
			200*time.Millisecond, 100*time.Millisecond
	}), xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.POST("/read", func(c *gin.Context) {
			_, err := io.ReadAll(c.Request.Body)
			c.String(http.StatusOK, fmt.Sprint(err))
		})
	})).start()
	s.raw("GET /ok HTTP/1.1\r\nHost: x\r\nX-Half: ")
	if got := s.raw("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"); !strings.Contains(got, "i/o timeout") {
		t.Errorf("half a body = %q, want the handler to see a timeout", got)
	}
	if got := s.raw("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(got,
		"HTTP/1.1 200") {
		t.Errorf("idle connection = %q, want an answer and then the end", got)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestHeaderOver64KiBIsRefused(t *testing.T) {
	s := prepare(t, nil).start()
	got := s.raw("GET /ok HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("x",
		70<<10) + "\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 431") {
		t.Errorf("answer = %.40q, want 431", got)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestBannerIsForTerminals(t *testing.T) {
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

func TestRunContext_changesTheServerOnce(t *testing.T) {
	changes := 0
	s := prepare(t, nil, xoption.WithServer(func(*http.Server) { changes++ }))
	if changes != 0 {
		t.Errorf("the server was changed %d times by the start, want that to be the Runner's",
			changes)
	}
	s.late = append(s.late, xoption.WithServer(func(h *http.Server) { h.MaxHeaderBytes = 1 << 10 }))
	if err := s.start().stop(); err != nil {
		t.Error(err)
	}
	if changes != 1 {
		t.Errorf("the server was changed %d times, want once", changes)
	}
}
