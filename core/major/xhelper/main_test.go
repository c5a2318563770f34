package xhelper_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		code = 1
	}
	os.Exit(code)
}

// lines collects the lines of a log.
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

// with returns the lines with the message msg.
func (l *lines) with(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if line["msg"] == msg {
			found = append(found, line)
		}
	}
	return found
}

// capture returns a context that collects the log lines.
func capture(t *testing.T) (context.Context, *lines) {
	t.Helper()
	l := &lines{}
	engine, err := xlog.New(xlog.Config{Writer: l, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	return xlog.NewContext(t.Context(), engine), l
}

// newEngine returns an engine with the settings of Plinth's engine, and its log lines.
func newEngine(t *testing.T, config xhelper.Config, more ...gin.HandlerFunc) (*gin.Engine, *lines) {
	t.Helper()
	ctx, log := capture(t)
	config.Base = ctx
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.HandleMethodNotAllowed = true
	engine.Use(xhelper.Serve(config))
	engine.Use(more...)
	return engine, log
}

func do(engine http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	return send(engine, httptest.NewRequestWithContext(context.Background(), method, path,
		http.NoBody), header...)
}

func send(engine http.Handler, req *http.Request, header ...string) *httptest.ResponseRecorder {
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, req)
	return w
}

func listen(t *testing.T, engine http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(engine)
	t.Cleanup(s.Close)
	return s
}

// raw sends text over a new connection and returns a reader of the response.
func raw(t *testing.T, s *httptest.Server, text string) *bufio.Reader {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

func decode(t *testing.T, body string) map[string]any {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return got
}

func wantOutput(t *testing.T, w *httptest.ResponseRecorder, status int, output string) {
	t.Helper()
	if got := decode(t, w.Body.String())["output"]; got != output || w.Code != status {
		t.Errorf("got %d %v, want %d %s (body %s)", w.Code, got, status, output, w.Body)
	}
}
