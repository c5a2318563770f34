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
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
)

// downloadSize is more than the buffers of a connection hold.
const downloadSize = 16 << 20

func init() { //nolint:gochecknoinits // the map is made before
	programs["download"] = func() {
		xMain.Runner(xReg.Register(context.Background(), nil, xOption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/download", func(c *gin.Context) {
				c.Data(http.StatusOK, "application/octet-stream", make([]byte, downloadSize))
			})
			e.GET("/goroutines", func(c *gin.Context) { c.String(http.StatusOK, strconv.Itoa(runtime.NumGoroutine())) })
		})), nil, nil)
	}
}

// playDownload starts the program and returns its URL.
func playDownload(t *testing.T, timeout time.Duration) string {
	t.Helper()
	p := play(t, "download", "PLINTH_WRITE_TIMEOUT="+timeout.String(), "PLINTH_REQUEST_TIMEOUT=1s")
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.exit()
	})
	return p.line("ready")["address"].(string)
}

// goroutines returns the number of goroutines of the program at url.
func goroutines(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url + "/goroutines") //nolint:noctx // the test ends it
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

// beginDownload sends a request and reads nothing.
func beginDownload(t *testing.T, url string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
	if _, err := fmt.Fprintf(conn, "GET /download HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestRunner_WriteTimeout(t *testing.T) {
	t.Run("clients that never read are cut off", func(t *testing.T) {
		const clients = 100
		for _, timeout := range []time.Duration{0, 3 * time.Second} {
			url := playDownload(t, timeout)
			before := goroutines(t, url)
			for range clients {
				beginDownload(t, url)
			}
			held, end := 0, time.Now().Add(patience)
			for held < before+clients && time.Now().Before(end) {
				held = max(held, goroutines(t, url))
			}
			if end = time.Now().Add(patience); timeout == 0 {
				end = time.Now().Add(2 * time.Second)
			}
			left := held
			for left > before+clients/10 && time.Now().Before(end) {
				<-time.After(50 * time.Millisecond)
				left = goroutines(t, url)
			}
			t.Logf("write timeout %s: %d goroutines, %d with %d clients, then %d", timeout, before, held, clients, left)
			if cut := left <= before+clients/10; cut != (timeout > 0) {
				t.Errorf("write timeout %s: %d goroutines of %d are left", timeout, left, held)
			}
		}
	})
	t.Run("a slow download is not", func(t *testing.T) {
		url := playDownload(t, 2*time.Second)
		conn := beginDownload(t, url)
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

// stallingConn is a connection that accepts what its writes say.
type stallingConn struct {
	net.Conn
	accepts   []int // bytes of each write; the deadline passes if that is not all
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
		deadline time.Time // of the handler
		want     int       // bytes that were written of ten
		writes   int
	}{
		{name: "a write that is accepted", want: 10, writes: 1},
		{name: "progress renews the deadline", accepts: []int{3, 3, 3}, want: 10, writes: 4},
		{name: "progress that the kernel has not reported", accepts: []int{0, 3, 0, 3}, want: 10, writes: 5},
		{name: "no progress", accepts: []int{3, 0, 0, 7}, want: 3, writes: 3},
		{name: "a deadline of the handler is the only one", accepts: []int{3}, deadline: time.Now().Add(time.Hour), want: 3, writes: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := &stallingConn{accepts: tt.accepts}
			conn := xMain.WithWriteTimeout(raw, time.Minute)
			if !tt.deadline.IsZero() {
				_ = conn.SetWriteDeadline(tt.deadline)
			}
			n, err := conn.Write(make([]byte, 10))
			if n != tt.want || raw.writes != tt.writes || (err == nil) != (n == 10) {
				t.Errorf("Write = %d, %v in %d writes, want %d in %d", n, err, raw.writes, tt.want, tt.writes)
			}
			if last := raw.deadlines[len(raw.deadlines)-1]; !tt.deadline.IsZero() && !last.Equal(tt.deadline) {
				t.Errorf("deadline = %s, want that of the handler", last)
			}
		})
	}
}
