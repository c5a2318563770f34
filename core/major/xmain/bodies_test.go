//go:build linux

package xmain_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func init() { //nolint:gochecknoinits // the map is already initialized
	programs["bodies"] = func() {
		xmain.Runner(xreg.Register(context.Background(), nil,
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.POST("/text", func(c *gin.Context) {
					if body := xbind.Bind(c, &struct{ Text string }{}).Data(); body != nil {
						xresult.Success(c, strconv.Itoa(len(body.Text)))
					}
				})
			})), nil, nil)
	}
}

// memory returns the peak resident set size of a process in MB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(text)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes >> 10
}

// holdBody sends a request with a body of size bytes, but delays its last two bytes until
// release is closed. It returns the status.
func holdBody(
	t *testing.T, address string, size int, sent *sync.WaitGroup, release <-chan struct{},
) int {
	t.Helper()
	status, reportSent := 0, sync.OnceFunc(sent.Done)
	defer reportSent()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Error(err)
		return status
	}
	defer func() { _ = conn.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = resp.StatusCode
			_ = resp.Body.Close()
		}
	}()
	// The server may reject the request before the whole body is sent.
	_, _ = fmt.Fprintf(conn, "POST /text HTTP/1.1\r\nHost: test\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	_, _ = io.WriteString(conn, `{"text":"`+strings.Repeat("x", size-len(`{"text":""}`)))
	reportSent()
	<-release
	_, _ = io.WriteString(conn, `"}`)
	<-done
	return status
}

func TestRunner_MaxInflightBodyBytes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector uses additional memory")
	}
	const clients, size = 100, 4 << 20
	for _, tt := range []struct {
		name      string
		env       string
		maxGrowth int // MB above the initial size
		rejected  bool
	}{
		{"without a limit", "PLINTH_MAX_INFLIGHT_BODY_BYTES=0", 4 * clients * size >> 20, false},
		{"by default", "PLINTH_ENVELOPE=plinth", 230, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The limit applies to live memory. With the default GOGC as much garbage
			// could accumulate before a collection, and more on a busy machine.
			p := startProgram(t, "bodies", tt.env, "GOGC=50")
			t.Cleanup(func() {
				_ = p.cmd.Process.Kill()
				p.exit()
			})
			address := strings.TrimPrefix(p.waitLine("ready")["address"].(string), "http://")
			before := memory(t, p.cmd.Process.Pid)
			release := make(chan struct{})
			var sent, done sync.WaitGroup
			statuses := make([]int, clients)
			for i := range clients {
				sent.Add(1)
				done.Go(func() { statuses[i] = holdBody(t, address, size, &sent, release) })
			}
			sent.Wait()
			<-time.After(500 * time.Millisecond) // until the handlers have read the last bytes
			peak := memory(t, p.cmd.Process.Pid)
			close(release)
			done.Wait()
			after := memory(t, p.cmd.Process.Pid)
			count := map[int]int{}
			for _, status := range statuses {
				count[status]++
			}
			t.Logf("%d clients with %d MB each: memory %d MB, then %d MB, at most %d MB; status %v",
				clients, size>>20, before, peak, after, count)
			ok, rejected := count[http.StatusOK], count[http.StatusServiceUnavailable]
			if ok == 0 || (rejected > 0) != tt.rejected {
				t.Errorf("statuses = %v", count)
			}
			if after-before > tt.maxGrowth {
				t.Errorf("memory grew by %d MB, want at most %d MB", after-before, tt.maxGrowth)
			}
		})
	}
}
