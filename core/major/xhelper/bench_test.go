package xhelper_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

// BenchmarkRequest measures one request through three engines that answer alike: gin with nothing but
// the handler, gin with what one writes by hand for an id, recovery, an access log, errors and an
// envelope, and ours.
func BenchmarkRequest(b *testing.B) {
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	for _, engine := range []struct {
		name  string
		build func() http.Handler
	}{
		{"bare", bareGin},
		{"hand", handWrittenGin},
		{"plinth", func() http.Handler { return plinthGin(b) }},
	} {
		b.Run(engine.name, func(b *testing.B) {
			handler := engine.build()
			w, req := newSink(), newRequest(b)
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(w, req)
				w.reset()
			}
		})
	}
}

// ballastSize is the live heap of a small service. With the few kilobytes of a benchmark the collector
// would run all the time, and measure itself.
const ballastSize = 64 << 20

// BenchmarkLoopback measures the same over a real connection, with a client that costs next to nothing:
// all responses of an engine have one length.
func BenchmarkLoopback(b *testing.B) {
	for _, engine := range []struct {
		name  string
		build func() http.Handler
	}{
		{"bare", bareGin},
		{"hand", handWrittenGin},
		{"plinth", func() http.Handler { return plinthGin(b) }},
	} {
		b.Run(engine.name, func(b *testing.B) {
			server := httptest.NewServer(engine.build())
			defer server.Close()
			conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			request := []byte("GET /user/7 HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n")
			response := make([]byte, 4<<10)
			if _, err := conn.Write(request); err != nil {
				b.Fatal(err)
			}
			size, err := conn.Read(response)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(conn, response[:size]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// user is the payload of all engines.
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

func someone() user {
	return user{
		ID: 183_402_938_112_004, Username: "ada", Email: "ada@example.org", Role: "owner", Active: true, Logins: 12,
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

func bareGin() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/user/:id", func(c *gin.Context) {
		c.JSON(http.StatusOK, envelope{Output: "Success", Code: http.StatusOK, Message: "found", Data: someone()})
	})
	return engine
}

// envelope is what a hand-written service would answer with.
type envelope struct {
	Context string `json:"context"`
	Output  string `json:"output"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func handWrittenGin() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	log := zerolog.New(io.Discard).With().Timestamp().Logger()
	engine.Use(handID, handAccess(log), gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) {
		c.AbortWithStatusJSON(http.StatusInternalServerError, envelope{Context: c.GetString("request_id"), Output: "INTERNAL", Code: 500})
	}), handErrors)
	engine.GET("/user/:id", func(c *gin.Context) {
		c.JSON(http.StatusOK, envelope{
			Context: c.GetString("request_id"), Output: "Success", Code: http.StatusOK, Message: "found", Data: someone(),
		})
	})
	return engine
}

// handID puts the id where handlers look for it, and into the context for the logic below them.
func handID(c *gin.Context) {
	id := c.GetHeader("X-Request-UUID")
	if id == "" {
		id = uuid.NewString()
	}
	c.Set("request_id", id)
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), handKey{}, id))
	c.Header("X-Request-UUID", id)
	c.Next()
}

type handKey struct{}

func handAccess(log zerolog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		log.Info().Str("request_id", c.GetString("request_id")).Str("method", c.Request.Method).
			Str("path", c.Request.URL.Path).Str("route", c.FullPath()).Int("status", c.Writer.Status()).Int("size", c.Writer.Size()).
			Dur("duration", time.Since(start)).Str("ip", c.ClientIP()).Msg("request")
	}
}

var errNotFound = errors.New("not found")

func handErrors(c *gin.Context) {
	c.Next()
	last := c.Errors.Last()
	if last == nil || c.Writer.Written() {
		return
	}
	status := http.StatusInternalServerError
	if errors.Is(last, errNotFound) {
		status = http.StatusNotFound
	}
	c.JSON(status, envelope{Context: c.GetString("request_id"), Output: http.StatusText(status), Code: status})
}

func plinthGin(tb testing.TB) http.Handler {
	tb.Helper()
	gin.SetMode(gin.ReleaseMode)
	log, err := xLog.New(xLog.Config{Writer: io.Discard, Format: xLog.FormatJSON})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(xLog.SetDefault(log))
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xHelper.Serve(xHelper.Config{Base: tb.Context(), EnableInput: true}))
	engine.GET("/user/:id", func(c *gin.Context) { xResult.SuccessHasData(c, "found", someone()) })
	return engine
}

// sink is a response writer that costs nothing itself.
type sink struct {
	header http.Header
	status int
	size   int
}

func newSink() *sink { return &sink{header: http.Header{}} }

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	s.size += len(p)
	return len(p), nil
}

func (s *sink) reset() {
	clear(s.header)
	s.size = 0
}
