//go:build unix

package xmain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// downloadSize exceeds the buffers of a connection.
const downloadSize = 16 << 20

func init() { //nolint:gochecknoinits // the map is already initialized
	programs["download"] = func() {
		xmain.Runner(xreg.Register(context.Background(), nil,
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/download", func(c *gin.Context) {
					c.Data(http.StatusOK, "application/octet-stream", make([]byte, downloadSize))
				})
				e.GET("/goroutines", func(c *gin.Context) {
					c.String(http.StatusOK, strconv.Itoa(runtime.NumGoroutine()))
				})
			})), nil, nil)
	}
}

// startDownloadServer starts the program and returns its URL.
func startDownloadServer(t *testing.T, timeout time.Duration) string {
	t.Helper()
	p := startProgram(t, "download",
		"PLINTH_WRITE_TIMEOUT="+timeout.String(), "PLINTH_REQUEST_TIMEOUT=1s")
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.exit()
	})
	return p.waitLine("ready")["address"].(string)
}

// goroutines returns the number of goroutines of the program at url.
func goroutines(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url + "/goroutines") //nolint:noctx // a short local request
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	n, err := strconv.Atoi(string(body))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// startDownload sends a request and does not read the response.
func startDownload(t *testing.T, url string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
	if _, err := fmt.Fprintf(conn,
		"GET /download HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestRunner_WriteTimeout(t *testing.T) {
	t.Run("clients that never read are disconnected", func(t *testing.T) {
		const clients = 100
		for _, timeout := range []time.Duration{0, 3 * time.Second} {
			url := startDownloadServer(t, timeout)
			before := goroutines(t, url)
			for range clients {
				startDownload(t, url)
			}
			peak, end := 0, time.Now().Add(testTimeout)
			for peak < before+clients && time.Now().Before(end) {
				peak = max(peak, goroutines(t, url))
			}
			if end = time.Now().Add(testTimeout); timeout == 0 {
				end = time.Now().Add(2 * time.Second)
			}
			left := peak
			for left > before+clients/10 && time.Now().Before(end) {
				<-time.After(50 * time.Millisecond)
				left = goroutines(t, url)
			}
			t.Logf("write timeout %s: %d goroutines, %d with %d clients, then %d",
				timeout, before, peak, clients, left)
			if disconnected := left <= before+clients/10; disconnected != (timeout > 0) {
				t.Errorf("write timeout %s: %d of %d goroutines are left", timeout, left, peak)
			}
		}
	})
	t.Run("a slow download completes", func(t *testing.T) {
		url := startDownloadServer(t, 2*time.Second)
		conn := startDownload(t, url)
		start, got := time.Now(), int64(0)
		for {
			n, err := io.CopyN(io.Discard, conn, downloadSize/60)
			got += n
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("after %s and %d bytes: %v", time.Since(start), got, err)
			}
			<-time.After(100 * time.Millisecond)
		}
		if got < downloadSize {
			t.Errorf("got %d bytes in %s, want %d", got, time.Since(start), downloadSize)
		}
	})
}

// stallingConn is a connection that accepts a limited number of bytes per write.
type stallingConn struct {
	net.Conn
	accepts   []int // bytes per write; a partial write exceeds the deadline
	writes    int
	deadlines []time.Time
}

func (c *stallingConn) SetWriteDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func (c *stallingConn) Write(p []byte) (int, error) {
	n := len(p)
	if c.writes < len(c.accepts) {
		n = min(n, c.accepts[c.writes])
	}
	c.writes++
	if n < len(p) {
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

func TestWithWriteTimeout(t *testing.T) {
	tests := []struct {
		name     string
		accepts  []int
		deadline time.Time // set by the handler
		want     int       // bytes written of ten
		writes   int
	}{
		{name: "a complete write", want: 10, writes: 1},
		{name: "progress renews the deadline", accepts: []int{3, 3, 3}, want: 10, writes: 4},
		{
			name:    "progress that the kernel reports late",
			accepts: []int{0, 3, 0, 3}, want: 10, writes: 5,
		},
		{name: "no progress", accepts: []int{3, 0, 0, 7}, want: 3, writes: 3},
		{
			name:    "a deadline of the handler replaces the timeout",
			accepts: []int{3}, deadline: time.Now().Add(time.Hour), want: 3, writes: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := &stallingConn{accepts: tt.accepts}
			conn := xmain.WithWriteTimeout(raw, time.Minute)
			if !tt.deadline.IsZero() {
				_ = conn.SetWriteDeadline(tt.deadline)
			}
			n, err := conn.Write(make([]byte, 10))
			if n != tt.want || raw.writes != tt.writes || (err == nil) != (n == 10) {
				t.Errorf("Write = %d, %v in %d writes, want %d in %d",
					n, err, raw.writes, tt.want, tt.writes)
			}
			if last := raw.deadlines[len(raw.deadlines)-1]; !tt.deadline.IsZero() &&
				!last.Equal(tt.deadline) {
				t.Errorf("deadline = %s, want the handler's", last)
			}
		})
	}
}

// innerConn returns the connection that c wraps.
func innerConn(c net.Conn) net.Conn {
	if n, ok := c.(interface{ NetConn() net.Conn }); ok {
		return n.NetConn()
	}
	return nil
}

// The default write timeout applies, so each connection is a timedConn.
func TestRunContext_Connections(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			l := listenOn(t, network)
			var inContext, inState atomic.Value // types of the connections
			type hijacked struct {
				typ     string
				syscall bool
				copied  error
			}
			got := make(chan hijacked, 1)
			s := prepare(t, nil, xoption.WithListener(l), xoption.WithServer(func(h *http.Server) {
				h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
					inContext.Store(fmt.Sprintf("%T", c))
					return ctx
				}
				h.ConnState = func(c net.Conn, _ http.ConnState) {
					inState.Store(fmt.Sprintf("%T", c))
				}
			}), xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/hijack", func(c *gin.Context) {
					conn := hijack(c)
					defer func() { _ = conn.Close() }()
					_, system := conn.(syscall.Conn)
					_, err := io.Copy(conn,
						strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
					got <- hijacked{fmt.Sprintf("%T", innerConn(conn)), system, err}
				})
			}))
			ready := make(chan struct{})
			s.Lifecycle().OnReady("conn", func(context.Context) error { close(ready); return nil })
			s.run()
			wait(t, ready, "ready")
			client := &http.Client{
				Timeout: testTimeout,
				Transport: &http.Transport{
					DisableKeepAlives: true,
					DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
						return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
					},
				},
			}
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/hijack",
				http.NoBody)
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if string(body) != "ok" {
				t.Errorf("body = %q, want ok", body)
			}
			want := map[string]string{"tcp": "*net.TCPConn", "unix": "*net.UnixConn"}[network]
			if inContext.Load() != want || inState.Load() != want {
				t.Errorf("ConnContext got %v and ConnState %v, want %s",
					inContext.Load(), inState.Load(), want)
			}
			if h := <-got; h != (hijacked{want, true, nil}) {
				t.Errorf("hijacked = %+v, want a wrapped %s that is a syscall.Conn", h, want)
			}
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func listenOn(t *testing.T, network string) net.Listener {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "xmain") //nolint:usetesting // the path of a socket must be short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		address = dir + "/s"
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// countingConn counts the calls of ReadFrom.
type countingConn struct {
	*stallingConn
	reads int
}

func (c *countingConn) ReadFrom(r io.Reader) (int64, error) {
	c.reads++
	return io.Copy(io.Discard, r)
}

func TestWithWriteTimeout_ReadFrom(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		deadline             time.Time // set by the handler
		reads, deadlineCalls int
	}{
		{name: "the timeout is renewed with each write", reads: 0, deadlineCalls: 1},
		{
			name:     "a connection without the timeout uses ReadFrom",
			deadline: time.Now().Add(time.Hour), reads: 1, deadlineCalls: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := &countingConn{stallingConn: &stallingConn{}}
			conn := xmain.WithWriteTimeout(raw, time.Minute)
			if !tt.deadline.IsZero() {
				_ = conn.SetWriteDeadline(tt.deadline)
			}
			n, err := io.Copy(conn, io.LimitReader(neverEnding{}, 10))
			if n != 10 || err != nil || raw.reads != tt.reads ||
				len(raw.deadlines) != tt.deadlineCalls {
				t.Errorf("Copy = %d, %v with %d calls of ReadFrom and %d deadlines; "+
					"want 10, nil, %d and %d",
					n, err, raw.reads, len(raw.deadlines), tt.reads, tt.deadlineCalls)
			}
		})
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }
