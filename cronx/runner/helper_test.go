package runner_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/cronx/runner"
)

func TestMain(m *testing.M) {
	if text, ok := xenv.GetEnv(replicaKey); ok {
		os.Exit(runReplica(text))
	}
	goleak.VerifyTestMain(m)
}

// lines collects log output.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// with returns the log records with the message.
func (l *lines) with(message string) []map[string]any {
	var found []map[string]any
	scan := bufio.NewScanner(strings.NewReader(l.String()))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var line map[string]any
		if err := json.Unmarshal(scan.Bytes(), &line); err == nil &&
			strings.Contains(scan.Text(), `"`+message) {
			found = append(found, line)
		}
	}
	return found
}

// capture collects the log until the end of the test.
func capture(t *testing.T) *lines {
	t.Helper()
	out := &lines{}
	engine, err := xlog.New(xlog.Config{
		Format: xlog.FormatJSON, Writer: out, Level: slog.LevelDebug,
	})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	t.Cleanup(func() {
		restore()
		_ = engine.Close()
	})
	return out
}

// service is a running Serve call.
type service struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}
	err    error // valid after done is closed
}

// leased returns the context of an application with leases.
func leased(t *testing.T, leases *xlease.Leases) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), xctx.LeasesKey, leases)
}

// serve runs jobs until stop or the end of the test.
func serve(t *testing.T, ctx context.Context, options ...runner.Option) *service {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	s := &service{t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = runner.Serve(ctx, options...)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
	})
	return s
}

// stop stops the runner and returns its error.
func (s *service) stop() error {
	s.t.Helper()
	s.cancel()
	<-s.done
	return s.err
}

// cluster is an in-memory backend that reports cluster scope.
type cluster struct {
	driver.Backend

	mu    sync.Mutex
	fail  func(call string) error // called before each call; may be nil
	after func(call string) error // called after each call; may be nil
}

func newCluster() *cluster { return &cluster{Backend: xlease.InProcess(nil)} }

// leases returns the leases of one replica.
func (c *cluster) leases(t *testing.T) *xlease.Leases {
	t.Helper()
	l := xlease.New(c)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (c *cluster) set(change func(c *cluster)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// callHook calls fail or, if after is true, after.
func (c *cluster) callHook(call string, after bool) error {
	c.mu.Lock()
	hook := c.fail
	if after {
		hook = c.after
	}
	c.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(call)
}

func (*cluster) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: driver.Cluster, Durable: true, Name: "fake"}
}

func (c *cluster) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if err := c.callHook("acquire "+r.Name, false); err != nil {
		return driver.Grant{}, err
	}
	g, err := c.Backend.Acquire(ctx, r)
	if lost := c.callHook("acquire "+r.Name, true); lost != nil {
		return driver.Grant{}, lost
	}
	return g, err
}

func (c *cluster) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if err := c.callHook("renew "+h.Name, false); err != nil {
		return false, err
	}
	return c.Backend.Renew(ctx, h)
}

func (c *cluster) Release(ctx context.Context, h driver.Holding) (bool, error) {
	if err := c.callHook("release "+h.Name, false); err != nil {
		return false, err
	}
	held, err := c.Backend.Release(ctx, h)
	if lost := c.callHook("release "+h.Name, true); lost != nil {
		return false, lost
	}
	return held, err
}

// sleep waits for d. In a synctest bubble it advances the fake clock.
func sleep(d time.Duration) { <-time.After(d) }

// skewed returns a clock with an offset.
func skewed(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}
