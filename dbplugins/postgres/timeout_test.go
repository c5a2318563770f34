package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// serveArgument makes the test binary run serveDatabase.
const serveArgument = "serve a database"

// serveDatabase runs a service whose only query is limited by the request timeout.
func serveDatabase() {
	xmain.Runner(xreg.Register(context.Background(), nil,
		xoption.WithDatabase(xoptdatabase.FromEnv()),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/query", func(c *gin.Context) {
				if err := xdb.MustGetDB(c).Exec("SELECT 1").Error; err != nil {
					_ = c.Error(err)
					return
				}
				xresult.Success(c, "done")
			})
		})), nil, nil)
}

// network copies the bytes of connections until it is silenced.
type network struct {
	silent atomic.Bool
	end    chan struct{} // closed after the test
}

func (n *network) copy(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 1<<10)
	for {
		size, err := from.Read(buf)
		if n.silent.Load() {
			<-n.end
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:size]); err != nil {
			return
		}
	}
}

// behindNetwork returns the configuration of the same database behind a network that can
// be silenced.
func behindNetwork(t *testing.T, config driver.Config) (driver.Config, *network) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	n := &network{end: make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			inner, err := net.Dial("tcp", server) //nolint:noctx // ended by closing it
			if err != nil {
				t.Error(err)
				return
			}
			done.Go(func() { n.copy(inner, client) })
			done.Go(func() { n.copy(client, inner) })
		}
	})
	t.Cleanup(func() {
		close(n.end)
		_ = listener.Close()
		done.Wait()
	})
	config.Host, config.Port = "127.0.0.1", listener.Addr().(*net.TCPAddr).Port
	return config, n
}

// startService starts the service with a database and returns its URL.
func startService(t *testing.T, config driver.Config, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], serveArgument)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		"PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0", "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none",
		"LOG_FORMAT=json", "TMPDIR=" + cmd.Dir,
		"SNOWFLAKE_DATACENTER_ID=0", "SNOWFLAKE_NODE_ID=0", "LEASE_BACKEND=none",
		"DATABASE_DRIVER=postgres",
		"DATABASE_HOST=" + config.Host, "DATABASE_PORT=" + strconv.Itoa(config.Port),
		"DATABASE_USER=" + config.User, "DATABASE_PASS=" + config.Pass,
		"DATABASE_NAME=" + config.Name,
	}, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	var log bytes.Buffer
	for lines := json.NewDecoder(io.TeeReader(out, &log)); ; {
		var line struct{ Msg, Address string }
		if err := lines.Decode(&line); err != nil {
			t.Fatalf("the service is not ready: %v\n%s", err, &log)
		}
		if line.Msg == "ready" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return line.Address
		}
	}
}

// response is the response to a request.
type response struct {
	status int
	body   struct {
		Code int `json:"code"`
	}
	duration time.Duration
}

func request(t *testing.T, url string) (r response) {
	t.Helper()
	start := time.Now()
	resp, err := (&http.Client{Timeout: time.Minute}).Get(url) //nolint:noctx // it has a timeout
	if err != nil {
		t.Error(err)
		return r
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&r.body); err != nil {
		t.Error(err)
	}
	r.status, r.duration = resp.StatusCode, time.Since(start)
	return r
}

// TestService_SilentNetwork silences the database without closing connections.
func TestService_SilentNetwork(t *testing.T) {
	_, config := find(t)
	config, n := behindNetwork(t, config)
	const requestTimeout, acquireTimeout = 4 * time.Second, time.Second
	url := startService(t, config, "DATABASE_MAX_OPEN_CONNS=2", "DATABASE_MAX_IDLE_CONNS=2",
		"PLINTH_REQUEST_TIMEOUT="+requestTimeout.String(),
		"DATABASE_ACQUIRE_TIMEOUT="+acquireTimeout.String()) + "/query"
	if r := request(t, url); r.status != http.StatusOK {
		t.Fatalf("before the network was silenced: %+v", r)
	}
	n.silent.Store(true)
	responses := make([]response, 10)
	var done sync.WaitGroup
	for i := range responses {
		done.Go(func() { responses[i] = request(t, url) })
	}
	done.Wait()
	timedOut, overloaded := 0, 0
	for _, r := range responses {
		t.Logf("status %d, code %d after %s",
			r.status, r.body.Code, r.duration.Round(10*time.Millisecond))
		switch {
		case r.status == http.StatusGatewayTimeout && r.duration >= requestTimeout &&
			r.duration < 5*requestTimeout:
			timedOut++
		case r.status == http.StatusServiceUnavailable && r.body.Code == 50303 &&
			r.duration >= acquireTimeout && r.duration < requestTimeout:
			overloaded++
		}
	}
	if timedOut == 0 || overloaded == 0 || timedOut+overloaded != len(responses) {
		t.Errorf("%d requests timed out and %d got no connection, want both and a total of %d",
			timedOut, overloaded, len(responses))
	}
}
