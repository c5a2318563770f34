package xhelper_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// budget is the maximum number of allocations of a request that uses all features and
// whose envelope contains a small struct. One is the exchange, the other is the
// conversion of the struct to any.
const budget = 2

func TestServe_Allocations(t *testing.T) {
	t.Run("with data", func(t *testing.T) {
		if raceEnabled {
			t.Skip("the race detector allocates")
		}
		handler := plinthGin(t)
		w, req := newNopWriter(), newRequest(t)
		got := testing.AllocsPerRun(1000, func() {
			handler.ServeHTTP(w, req)
			w.reset()
		})
		if got > budget {
			t.Errorf("allocations = %v, want at most %d", got, budget)
		}
	})

	t.Run("without data", func(t *testing.T) {
		if raceEnabled {
			t.Skip("the race detector allocates")
		}
		engine, ok := plinthGin(t).(*gin.Engine)
		if !ok {
			t.Fatal("handler is not a *gin.Engine")
		}
		engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })
		w, req := newNopWriter(), newRequest(t)
		req.URL.Path = "/ping"
		if got := testing.AllocsPerRun(1000,
			func() { engine.ServeHTTP(w, req); w.reset() }); got > 1 {
			t.Errorf("allocations = %v, want 1", got)
		}
	})
}

// user is a small payload.
type user struct {
	ID        int64  `json:"id,string"`
	Username  string `json:"username"`
	Email     string `json:"email"`
	Phone     string `json:"phone,omitempty"`
	Role      string `json:"role"`
	Active    bool   `json:"active"`
	Logins    int    `json:"logins"`
	CreatedAt string `json:"created_at"`
}

func newUser() user {
	return user{
		ID: 183_402_938_112_004, Username: "ada", Email: "ada@example.org", Role: "owner",
		Active: true, Logins: 12,
		CreatedAt: "2026-01-02T03:04:05Z",
	}
}

func newRequest(tb testing.TB) *http.Request {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/user/7", http.NoBody)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Language", "en")
	return req
}

func plinthGin(tb testing.TB) http.Handler {
	tb.Helper()
	gin.SetMode(gin.ReleaseMode)
	log, err := xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(xlog.SetDefault(log))
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{Base: tb.Context(), EnableInput: true}))
	engine.GET("/user/:id", func(c *gin.Context) { xresult.SuccessHasData(c, "found", newUser()) })
	return engine
}

// nopWriter is a response writer that does not allocate.
type nopWriter struct {
	header http.Header
	status int
	size   int
}

func newNopWriter() *nopWriter { return &nopWriter{header: http.Header{}} }

func (s *nopWriter) Header() http.Header { return s.header }

func (s *nopWriter) WriteHeader(status int) { s.status = status }

func (s *nopWriter) Write(p []byte) (int, error) {
	s.size += len(p)
	return len(p), nil
}

func (s *nopWriter) reset() {
	clear(s.header)
	s.size = 0
}
