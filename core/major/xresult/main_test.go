package xresult_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(m.Run())
}

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

// capture returns a context and the log lines that are written with it.
func capture(t *testing.T) (context.Context, *lines) {
	t.Helper()
	l := &lines{}
	engine, err := xlog.New(xlog.Config{Writer: l, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	return xlog.NewContext(t.Context(), engine), l
}

// serve serves one request with handler, with xhelper.Serve as the only middleware.
func serve(
	t *testing.T, config xhelper.Config, handler gin.HandlerFunc, header ...string,
) (*httptest.ResponseRecorder, *lines) {
	t.Helper()
	ctx, log := capture(t)
	config.Base = ctx
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(config))
	engine.GET("/", handler)
	return get(engine, header...), log
}

func get(engine http.Handler, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, req)
	return w
}

func decode(t *testing.T, body string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	var got map[string]any
	if err := d.Decode(&got); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if d.More() {
		t.Fatalf("body %q contains more than one document", body)
	}
	return got
}

func wantFields(t *testing.T, body string, want map[string]any) {
	t.Helper()
	got := decode(t, body)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %v, want %v (body %s)", key, got[key], value, body)
		}
	}
}
