package xreg_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestMain(m *testing.M) {
	// tests must not write log files to the source directory
	if err := xenv.SetEnv("LOG_DIR", "none"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

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

// isolated returns options for an application that shares nothing with others, and its
// log.
func isolated(t *testing.T) (xoption.Option, *buffer) {
	t.Helper()
	out := &buffer{}
	engine, err := xlog.New(xlog.Config{Writer: out, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	return xoption.WithOptions(
		xoption.WithoutEnvFile(), xoption.WithLogger(engine),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
	), out
}

// start starts an application that is closed at the end of the test.
func start(t *testing.T, nodes []xregnode.Node, opts ...xoption.Option) (*xreg.Reg, *buffer) {
	t.Helper()
	base, out := isolated(t)
	reg, err := xreg.New(t.Context(), nodes, append([]xoption.Option{base}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return reg, out
}

func get(reg *xreg.Reg, method, path string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	reg.Serve.ServeHTTP(w, req)
	return w
}

func getWith(ctx context.Context, reg *xreg.Reg, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	reg.Serve.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, http.NoBody))
	return w
}

func post(reg *xreg.Reg, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	reg.Serve.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost,
		path, strings.NewReader(body)))
	return w
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

// linesWith counts the log lines that contain text.
func linesWith(out *buffer, text string) int {
	n := 0
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// detail returns the detail of the named component of the framework, or "".
func detail(reg *xreg.Reg, name string) string {
	for _, part := range reg.Parts() {
		if part.Name == name {
			return part.Detail
		}
	}
	return ""
}

// withPhase replaces the phase of the database, or of the cache if phase has that name.
func withPhase(phase startup.Phase) xoption.Option {
	makePhase := func(*startup.Plan) *startup.Phase { return &phase }
	return func(p *startup.Plan) {
		if phase.Name == "cache" {
			p.Cache = makePhase
		} else {
			p.Database = makePhase
		}
	}
}
