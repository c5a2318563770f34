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

// programKey names the program that this test binary plays instead of running tests.
const programKey xenv.EnvKey = "XMAIN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name, play := xenv.GetEnv(programKey); play {
		programs[name]()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of these tests; what they wait for takes milliseconds.
const patience = 20 * time.Second

// buffer is a writer that may be read while it is written.
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

// trace notes what happened, in order.
type trace struct {
	mu   sync.Mutex
	list []string
}

func (tr *trace) add(what string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.list = append(tr.list, what)
}

func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.list, ", ")
}

// closer is a node's value that notes its close.
type closer struct {
	tr   *trace
	name string
}

func (c closer) Close() { c.tr.add("close " + c.name) }

// node returns a list of one node whose close is noted.
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
	late   []xoption.Option // given to the Runner
	cancel context.CancelFunc
	done   chan error
}

// prepare registers an application that shares nothing with another one and listens on a
// free port.
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

// start serves in the background until stop, and waits until the service is ready.
func (s *service) start(tasks ...xmain.Task) *service {
	s.t.Helper()
	ready := make(chan struct{})
	s.Life().OnReady("test", func(context.Context) error { close(ready); return nil })
	s.run(tasks...)
	wait(s.t, ready, "ready")
	s.untilReadyz(http.StatusOK) // the hook runs just before
	return s
}

// run serves in the background.
func (s *service) run(tasks ...xmain.Task) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.cancel = cancel
	go func() { s.done <- xmain.RunContext(ctx, s.Reg, nil, s.late, tasks...) }()
}

// stop begins the stop and returns what RunContext does.
func (s *service) stop() error {
	s.t.Helper()
	s.cancel()
	return s.result()
}

// result waits for RunContext.
func (s *service) result() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		s.cancel()
		return err
	case <-time.After(patience):
		s.t.Fatalf("the service does not end; log:\n%s", s.log)
		return nil
	}
}

// untilReadyz asks for the readiness until the status is want.
func (s *service) untilReadyz(want int) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if status, _, err := s.get("/readyz"); err == nil && status == want {
			return
		}
	}
	s.t.Fatalf("/readyz never answered %d", want)
}

// get asks over a connection of its own.
func (s *service) get(path string) (status int, header http.Header, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
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

// wait waits for a channel to be closed.
func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("waited for %s in vain", what)
	}
}
