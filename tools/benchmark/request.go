package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

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

func sampleUser() user {
	return user{
		ID: 183_402_938_112_004, Username: "ada", Email: "ada@example.org", Role: "owner",
		Active: true, Logins: 12, CreatedAt: "2026-01-02T03:04:05Z",
	}
}

// requests compares the full stack with a hand-written service, and with gin that only
// responds.
func requests() []comparison {
	plinth, hand, bare := plinthUsers(), handWritten(ginUsers), gin.New()
	ginUsers(bare)
	return []comparison{
		{
			name: "full stack", peer: "gin by hand",
			target: 0.45, allocs: 4, ours: benchGet(plinth), theirs: benchGet(hand),
		},
		{
			name: "full stack", peer: "bare gin",
			target: 1.25, allocs: 4, ours: benchGet(plinth), theirs: benchGet(bare),
		},
		{
			name: "full stack over a connection", peer: "bare gin",
			target: 1.20, allocs: -1, ours: overLoopback(plinth), theirs: overLoopback(bare),
		},
	}
}

// plinthUsers responds with the full stack.
func plinthUsers() http.Handler {
	return plinthEngine(func(e *gin.Engine) {
		e.GET("/user/:id", func(c *gin.Context) { xresult.SuccessHasData(c, "found", sampleUser()) })
	})
}

// ginUsers responds with gin and a hand-written envelope.
func ginUsers(e *gin.Engine) {
	e.GET("/user/:id", func(c *gin.Context) {
		c.JSON(http.StatusOK, found(c.GetString("request_id")))
	})
}

// found returns the response of every framework.
func found(id string) handEnvelope {
	return handEnvelope{
		Context: id, Output: "Success", Code: http.StatusOK, Message: "found",
		Data: sampleUser(),
	}
}

// plinthEngine returns an engine with the request middleware as xreg installs it.
func plinthEngine(routes func(*gin.Engine)) http.Handler {
	restore := xlog.SetDefault(
		must(xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON})))
	_ = restore // the process uses this logger until it exits
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{
		Base: context.Background(), EnableInput: true, MaxBodyBytes: 4 << 20,
	}))
	routes(engine)
	return engine
}

// handEnvelope is the response of a hand-written service.
type handEnvelope struct {
	Context string `json:"context"`
	Output  string `json:"output"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// handWritten is gin with a typical hand-written request ID, access log, recovery and
// error handling.
func handWritten(routes func(*gin.Engine)) http.Handler {
	engine := gin.New()
	log := zerolog.New(io.Discard).With().Timestamp().Logger()
	engine.Use(handID, handAccess(log),
		gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) {
			c.AbortWithStatusJSON(http.StatusInternalServerError,
				handEnvelope{Context: c.GetString("request_id"), Output: "INTERNAL", Code: 500})
		}), handErrors)
	routes(engine)
	return engine
}

// handKey is the context key of the request ID.
type handKey struct{}

// handID stores the request ID in the gin context and in the request context.
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

func handAccess(log zerolog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		log.Info().Str("request_id", c.GetString("request_id")).Str("method", c.Request.Method).
			Str("path", c.Request.URL.Path).Str("route", c.FullPath()).
			Int("status", c.Writer.Status()).Int("size", c.Writer.Size()).
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
	c.JSON(status, handEnvelope{
		Context: c.GetString("request_id"), Output: http.StatusText(status), Code: status,
	})
}

// benchGet measures a request for one user, without a connection.
func benchGet(h http.Handler) func(*testing.B) {
	w := newSink()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/user/7",
		http.NoBody)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Language", "en")
	return repeat(func() {
		h.ServeHTTP(w, r)
		w.reset()
	})
}

// overLoopback measures requests over a real connection, with a client of minimal cost.
// It expects that all responses of an engine have the same length.
func overLoopback(h http.Handler) func(*testing.B) {
	return func(b *testing.B) {
		server := httptest.NewServer(h)
		defer server.Close()
		sendRequests(b, server.Listener.Addr().String())
	}
}

// sendRequests sends requests to a server over one connection.
func sendRequests(b *testing.B, address string) {
	b.Helper()
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", address)
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
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, response[:size]); err != nil {
			b.Fatal(err)
		}
	}
}

// loopbackCPU returns the CPU time of a request, client included, relative to bare gin.
func loopbackCPU() (string, error) {
	all := requests()
	return fmt.Sprintf("%.2f of bare gin's", cpuRatio(all[len(all)-1])), nil
}

// cpuRounds is odd, so that the median is one of the rounds.
const cpuRounds = 15

// cpuRatio returns the CPU time per operation relative to the peer: the median of rounds
// that run both sides alternately.
func cpuRatio(c comparison) float64 {
	ratios := make([]float64, cpuRounds)
	for i := range ratios {
		_, theirs := runTimed(c.theirs)
		_, ours := runTimed(c.ours)
		ratios[i] = ours / theirs
	}
	return median(ratios)
}

// sink is a response writer of minimal cost.
type sink struct {
	header http.Header
	size   int
}

func newSink() *sink { return &sink{header: http.Header{}} }

// Header implements http.ResponseWriter.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *sink) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (s *sink) Write(p []byte) (int, error) {
	s.size += len(p)
	return len(p), nil
}

func (s *sink) reset() { clear(s.header) }
