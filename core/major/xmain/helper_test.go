package xmain_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// programKey names the program that the test binary runs instead of the tests.
const programKey xenv.EnvKey = "XMAIN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name, ok := xenv.GetEnv(programKey); ok {
		programs[name]()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// testTimeout limits every wait of these tests. Most waits last milliseconds.
const testTimeout = 20 * time.Second

// buffer is a bytes.Buffer that is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// trace records events in order.
type trace struct {
	mu   sync.Mutex
	list []string
}

func (tr *trace) add(event string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.list = append(tr.list, event)
}

func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.list, ", ")
}

// closer is the value of a node that records its Close.
type closer struct {
	tr   *trace
	name string
}

func (c closer) Close() { c.tr.add("close " + c.name) }

func node(tr *trace, name string) []xregnode.Node {
	return []xregnode.Node{{
		Key:  "node",
		Node: func(context.Context) (any, error) { return closer{tr, name}, nil },
	}}
}

// service is an application that RunContext serves in the background.
type service struct {
	*xreg.Reg
	t      *testing.T
	url    string
	log    *buffer
	cancel context.CancelFunc
	done   chan error

	runnerOptions []xoption.Option
}

// prepare creates an isolated application on a free port.
func prepare(t *testing.T, nodes []xregnode.Node, opts ...xoption.Option) *service {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{
		t: t, url: "http://" + l.Addr().String(), log: &buffer{},
		done: make(chan error, 1),
	}
	engine, err := xlog.New(xlog.Config{Writer: s.log, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	base := []xoption.Option{
		xoption.WithoutEnvFile(), xoption.WithLogger(engine),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithListener(l), xoption.WithHealth(), xoption.WithDrainDelay(0),
		xoption.WithRoute(okRoute),
	}
	s.Reg, err = xreg.New(t.Context(), nodes, append(base, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func okRoute(_ context.Context, e *gin.Engine) {
	e.GET("/ok", func(c *gin.Context) { xresult.Success(c, "ok") })
}

// start starts the service in the background and waits until it is ready.
func (s *service) start(tasks ...xmain.Task) *service {
	s.t.Helper()
	ready := make(chan struct{})
	s.Lifecycle().OnReady("test", func(context.Context) error { close(ready); return nil })
	s.run(tasks...)
	wait(s.t, ready, "ready")
	s.awaitReadyz(http.StatusOK) // the hook runs just before
	return s
}

// run starts the service in the background.
func (s *service) run(tasks ...xmain.Task) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.cancel = cancel
	go func() { s.done <- xmain.RunContext(ctx, s.Reg, nil, s.runnerOptions, tasks...) }()
}

// stop requests a stop and returns the result of RunContext.
func (s *service) stop() error {
	s.t.Helper()
	s.cancel()
	return s.result()
}

// result waits for RunContext to return.
func (s *service) result() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		s.cancel()
		return err
	case <-time.After(testTimeout):
		s.t.Fatalf("the service did not stop; log:\n%s", s.log)
		return nil
	}
}

// awaitReadyz polls /readyz until it responds with want.
func (s *service) awaitReadyz(want int) {
	s.t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); {
		if status, _, err := s.get("/readyz"); err == nil && status == want {
			return
		}
	}
	s.t.Fatalf("/readyz did not return %d", want)
}

// get sends a request on a new connection.
func (s *service) get(path string) (status int, header http.Header, err error) {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		Timeout:   testTimeout,
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header, err
}

// wait waits until c is closed.
func wait(t *testing.T, c <-chan struct{}, event string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(testTimeout):
		t.Fatalf("timeout waiting for %s", event)
	}
}
