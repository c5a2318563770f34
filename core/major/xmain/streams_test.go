package xmain_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// streamBound is much longer than a stream needs to end, and much shorter than the
// shutdown timeout of 25 s.
const streamBound = 12 * time.Second

// sendEvent starts a response of server-sent events.
func sendEvent(c *gin.Context) {
	c.SSEvent("message", "hello")
	c.Writer.Flush()
}

// sendRequest sends a request and does not read the response.
func (s *service) sendRequest(path string, header ...string) {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp",
		strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n"+
		strings.Join(header, "\r\n")+"\r\n\r\n"); err != nil {
		s.t.Fatal(err)
	}
}

// The handlers of this test do not use xhook.Draining.
func TestRunContext_Streams(t *testing.T) {
	if testing.Short() {
		t.Skip("waits")
	}
	release := make(chan struct{})
	defer close(release)
	for _, tc := range []struct {
		name   string
		header []string
		handle func(c *gin.Context, entered func())
	}{
		{
			name: "server-sent events until the context ends",
			handle: func(c *gin.Context, entered func()) {
				sendEvent(c)
				entered()
				<-c.Request.Context().Done()
			},
		},
		{
			name: "server-sent events until the client disconnects",
			handle: func(c *gin.Context, entered func()) {
				c.Stream(func(io.Writer) bool {
					sendEvent(c)
					entered()
					time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the handler ignores its context
					return true
				})
			},
		},
		{
			name:   "server-sent events before the first event",
			header: []string{"Accept: text/event-stream\r\n"},
			handle: func(c *gin.Context, entered func()) {
				entered()
				<-c.Request.Context().Done()
			},
		},
		{
			name: "a hijacked connection until the context ends",
			handle: func(c *gin.Context, entered func()) {
				conn := hijack(c)
				defer func() { _ = conn.Close() }()
				entered()
				<-c.Request.Context().Done()
			},
		},
		{name: "a hijacked connection during a read", handle: func(c *gin.Context, entered func()) {
			conn := hijack(c)
			defer func() { _ = conn.Close() }()
			entered()
			_, _ = bufio.NewReader(conn).ReadByte()
		}},
		{name: "a route with the Stream middleware", handle: func(c *gin.Context, entered func()) {
			xmiddle.Stream(c)
			entered()
			<-c.Request.Context().Done()
			_ = c.Error(context.Cause(c.Request.Context()))
		}},
		{name: "a handler that never returns", handle: func(c *gin.Context, entered func()) {
			sendEvent(c)
			entered()
			<-release
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			entered := make(chan struct{})
			s := prepare(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/stream", func(c *gin.Context) { tc.handle(c, onceClosed(entered)) })
			})).start()
			s.sendRequest("/stream", tc.header...)
			wait(t, entered, "the stream")
			start := time.Now()
			if err := s.stop(); err != nil {
				t.Errorf("RunContext = %v, want nil for streams", err)
			}
			if elapsed := time.Since(start); elapsed > streamBound {
				t.Errorf("the shutdown took %s", elapsed)
			}
		})
	}
}

// hijack hijacks the connection of a request.
func hijack(c *gin.Context) net.Conn {
	conn, _, err := c.Writer.Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// onceClosed returns a function whose first call closes c.
func onceClosed(c chan struct{}) func() {
	return func() {
		select {
		case <-c:
		default:
			close(c)
		}
	}
}

func TestRunContext_StreamDrain(t *testing.T) {
	t.Run("a stream continues during the drain delay", func(t *testing.T) {
		const delay = 300 * time.Millisecond
		entered, cause := make(chan struct{}), make(chan error, 1)
		var drained, ended time.Time
		s := prepare(t, nil, xoption.WithDrainDelay(delay),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/stream", func(c *gin.Context) {
					sendEvent(c)
					close(entered)
					<-c.Request.Context().Done()
					ended = time.Now()
					cause <- context.Cause(c.Request.Context())
				})
			}))
		s.Lifecycle().OnDrain("a", func(context.Context) error { drained = time.Now(); return nil })
		s.start()
		s.sendRequest("/stream")
		wait(t, entered, "the stream")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if err := <-cause; xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
			t.Errorf("cause = %v, want SERVICE_UNAVAILABLE", err)
		}
		if got := ended.Sub(drained); got < delay {
			t.Errorf("the stream ended %s after the start of the shutdown, want at least %s",
				got, delay)
		}
	})

	t.Run("other requests finish", func(t *testing.T) {
		entered, streaming, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		s := prepare(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/stream", func(c *gin.Context) {
				sendEvent(c)
				close(streaming)
				<-c.Request.Context().Done()
				close(ended)
			})
			e.GET("/slow", func(c *gin.Context) {
				close(entered)
				<-ended
				if err := c.Request.Context().Err(); err != nil {
					t.Errorf("the context of an ordinary request was canceled: %v", err)
				}
				xresult.Success(c, "slow")
			})
		})).start()
		s.sendRequest("/stream")
		wait(t, streaming, "the stream")
		got := make(chan int, 1)
		go func() {
			status, _, _ := s.get("/slow")
			got <- status
		}()
		wait(t, entered, "the request")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if status := <-got; status != http.StatusOK {
			t.Errorf("status of the ordinary request = %d, want 200", status)
		}
	})

	t.Run("a stream that starts late ends", func(t *testing.T) {
		entered, shutdown := make(chan struct{}), make(chan struct{})
		s := prepare(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/late", func(c *gin.Context) {
				close(entered)
				<-shutdown
				time.Sleep(100 * time.Millisecond) //nolint:forbidigo // until the streams have been stopped
				sendEvent(c)
				<-c.Request.Context().Done()
			})
		}))
		s.Lifecycle().OnShutdown("a", func(context.Context) error { close(shutdown); return nil })
		s.start()
		s.sendRequest("/late")
		wait(t, entered, "the request")
		start := time.Now()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if elapsed := time.Since(start); elapsed > streamBound {
			t.Errorf("the shutdown took %s", elapsed)
		}
	})

	t.Run("HTTP/2", func(t *testing.T) {
		entered, streaming, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		s := prepare(t, nil,
			xoption.WithServer(func(server *http.Server) {
				server.Protocols = new(http.Protocols)
				server.Protocols.SetHTTP1(true)
				server.Protocols.SetUnencryptedHTTP2(true)
			}),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/stream", func(c *gin.Context) {
					sendEvent(c)
					close(streaming)
					<-c.Request.Context().Done()
					close(ended)
				})
				e.GET("/slow", func(c *gin.Context) {
					close(entered)
					<-ended
					if err := c.Request.Context().Err(); err != nil {
						t.Errorf("the context of an ordinary request was canceled: %v", err)
					}
					xresult.Success(c, "slow")
				})
			})).start()
		client := &http.Client{
			Transport: &http.Transport{Protocols: protocols},
			Timeout:   testTimeout,
		}
		defer client.CloseIdleConnections()
		status := make(chan int, 2)
		get := func(path string) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path,
				http.NoBody)
			resp, err := client.Do(req)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				status <- 0
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}
		go get("/stream")
		wait(t, streaming, "the stream")
		go get("/slow")
		wait(t, entered, "the request")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if got := <-status; got != http.StatusOK {
				t.Errorf("status = %d, want 200", got)
			}
		}
	})
}
