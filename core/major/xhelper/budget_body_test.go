package xhelper_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestServe_MaxInflightBodyBytes(t *testing.T) {
	const budget = 1000
	// start starts a request whose handler reads n bytes. The request ends when finish is
	// called.
	start := func(t *testing.T, engine http.Handler, n int) (finish func()) {
		t.Helper()
		r, w := io.Pipe()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/read", r)
		req.ContentLength = -1
		done := make(chan struct{})
		go func() {
			defer close(done)
			engine.ServeHTTP(httptest.NewRecorder(), req)
		}()
		for _, part := range []int{n, 0} { // the second write returns after the first is counted
			if _, err := w.Write([]byte(strings.Repeat("x", part))); err != nil {
				t.Error(err)
			}
		}
		return func() { _ = w.Close(); <-done }
	}
	post := func(
		t *testing.T, engine http.Handler, path string, n int, declared bool,
	) *httptest.ResponseRecorder {
		t.Helper()
		var body io.Reader = strings.NewReader(strings.Repeat("x", n))
		if !declared {
			body = struct{ io.Reader }{body}
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
		return send(engine, req)
	}
	newServer := func(t *testing.T, c xhelper.Config) (engine *gin.Engine, read *int) {
		t.Helper()
		engine, _ = newEngine(t, c)
		read = new(int)
		handle := func(c *gin.Context) {
			data, err := io.ReadAll(c.Request.Body)
			*read = len(data)
			if err != nil {
				_, nextErr := c.Request.Body.Read(make([]byte, 1))
				if !errors.Is(nextErr, err) {
					t.Errorf("error of the next read = %v, want %v", nextErr, err)
				}
				_ = c.Error(err)
				return
			}
			xresult.Success(c, "read")
		}
		engine.POST("/read", handle)
		engine.POST("/large", handle)
		engine.POST("/unlimited", handle)
		engine.POST("/ignore", success)
		return engine, read
	}
	config := xhelper.Config{
		MaxInflightBodyBytes: budget, MaxBodyBytes: budget,
		RouteMaxBodyBytes: map[string]int64{"/large": budget + 1, "/unlimited": -1},
	}
	for _, tc := range []struct {
		name     string
		config   xhelper.Config
		path     string
		size     int
		declared bool
		want     int
		read     int
	}{
		{
			name: "within the budget", config: config, path: "/read",
			size: 400, declared: true, want: 200, read: 400,
		},
		{
			name: "within the budget, unknown length", config: config, path: "/read",
			size: 400, want: 200, read: 400,
		},
		{
			name: "above the budget", config: config, path: "/read",
			size: 401, declared: true, want: 503,
		},
		{
			name: "above the budget, unknown length", config: config, path: "/read",
			size: 401, want: 503,
		},
		{
			name: "a body that the handler ignores", config: config, path: "/ignore",
			size: 1000, want: 200,
		},
		{
			name: "a route with a limit above the budget", config: config, path: "/large",
			size: 1001, declared: true, want: 200, read: 1001,
		},
		{
			name: "a route without a limit", config: config, path: "/unlimited",
			size: 5000, declared: true, want: 200, read: 5000,
		},
		{name: "no body", config: config, path: "/read", want: 200},
		{
			name: "above the limit of its route", config: config, path: "/read",
			size: 1001, declared: true, want: 413,
		},
		{
			name: "no limit", config: xhelper.Config{MaxInflightBodyBytes: -1}, path: "/read",
			size: 5000, declared: true, want: 200, read: 5000,
		},
		{name: "default budget", path: "/read", size: 5000, declared: true, want: 200, read: 5000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			engine, read := newServer(t, tc.config)
			finish := start(t, engine, 600)
			*read = 0
			w := post(t, engine, tc.path, tc.size, tc.declared)
			if w.Code != tc.want || *read != tc.read && tc.want == http.StatusOK {
				t.Errorf("got %d after %d bytes, want %d after %d: %s",
					w.Code, *read, tc.want, tc.read, w.Body)
			}
			if tc.want == http.StatusServiceUnavailable &&
				(!strings.Contains(w.Body.String(), "SERVICE_OVERLOAD") ||
					w.Header().Get("Retry-After") == "") {
				t.Errorf("got %v %s, want SERVICE_OVERLOAD and a Retry-After", w.Header(), w.Body)
			}
			finish()
		})
	}
	t.Run("bytes are released at the end of a request", func(t *testing.T) {
		engine, _ := newServer(t, config)
		start(t, engine, 1000)()
		post(t, engine, "/read", 900, false)
		finish := start(t, engine, 600)
		post(t, engine, "/read", 401, false) // rejected
		finish()
		if w := post(t, engine, "/read", 1000, true); w.Code != http.StatusOK {
			t.Errorf("got %d, want the whole budget: %s", w.Code, w.Body)
		}
	})
}
