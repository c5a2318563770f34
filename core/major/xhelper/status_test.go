package xhelper_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/core/major/xroute"
)

type outcome struct {
	name    string
	handler gin.HandlerFunc
	status  int
}

// outcomes are different results of a handler for a request with a body of 4 bytes.
var outcomes = []outcome{
	{"an error", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) }, 404},
	{"a wrapped error", func(c *gin.Context) {
		_ = c.Error(fmt.Errorf("x: %w", xerror.New(xerror.Conflict, "")))
	}, 409},
	{"an unknown error", func(c *gin.Context) { _ = c.Error(errUnknown) }, 500},
	{"a developer error", func(c *gin.Context) { _ = c.Error(xerror.DeveloperError) }, 500},
	{"a deadline", func(c *gin.Context) { _ = c.Error(context.DeadlineExceeded) }, 504},
	{"an error and abort", func(c *gin.Context) { _ = c.Error(xerror.Forbidden); c.Abort() }, 403},
	{
		"an error with a status",
		func(c *gin.Context) { _ = c.AbortWithError(http.StatusTeapot, errUnknown) }, 418,
	},
	{
		"an error after a status",
		func(c *gin.Context) { c.Status(http.StatusCreated); _ = c.Error(xerror.Gone) }, 410,
	},
	{"a failed bind", func(c *gin.Context) { xbind.Bind(c, &struct{ Name string }{}).Data() }, 415},
	{
		"a failed bind of gin",
		func(c *gin.Context) { _ = c.BindJSON(&struct{ Name string }{}) }, 400,
	},
	{"abort", func(c *gin.Context) { c.AbortWithStatus(http.StatusTooManyRequests) }, 429},
	{"a bare status", func(c *gin.Context) { c.Status(http.StatusNotFound) }, 404},
	{"a written error", func(c *gin.Context) { xresult.Error(c, xerror.Locked, "", nil) }, 400},
	{"no response", func(*gin.Context) {}, 500},
	{"no content", func(c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
	{"a redirect", func(c *gin.Context) { c.Redirect(http.StatusSeeOther, "/elsewhere") }, 303},
	{"success", success, 200},
	{"another success", func(c *gin.Context) { c.Status(http.StatusCreated); success(c) }, 201},
	{
		"an error before a response",
		func(c *gin.Context) { _ = c.Error(errUnknown); success(c) }, 200,
	},
	{"a body over the limit", echo, 413},
	{"a body over the limit that is not read", success, 413},
	{"a panic", func(*gin.Context) { panic("boom") }, 500},
	{"a panic after abort", func(c *gin.Context) {
		c.AbortWithStatus(http.StatusNotFound)
		panic("boom")
	}, 500},
	{"a panic after a failed bind", func(c *gin.Context) {
		panic(xbind.Bind(c, &struct{ Name string }{}).Data().Name)
	}, 500},
	{"a panic after Next", func(c *gin.Context) {
		_ = c.Error(xerror.NotFound)
		c.Next()
		panic("boom")
	}, 500},
}

// statusRecorder is a middleware that records the status before and after the handler and
// in a deferred function.
type statusRecorder struct{ before, after, deferred int }

func (w *statusRecorder) middleware(c *gin.Context) {
	w.before = c.Writer.Status()
	defer func() { w.deferred = c.Writer.Status() }()
	c.Next()
	w.after = c.Writer.Status()
}

type wrappedWriter struct{ gin.ResponseWriter }

func TestServe_MiddlewareStatus(t *testing.T) {
	wrap := func(c *gin.Context) { c.Writer = &wrappedWriter{c.Writer} }
	for name, mount := range map[string]func(e *gin.Engine, mw, handler gin.HandlerFunc){
		"engine": func(e *gin.Engine, mw, handler gin.HandlerFunc) {
			e.Use(mw)
			e.POST("/", handler)
		},
		"group": func(e *gin.Engine, mw, handler gin.HandlerFunc) {
			e.Group("", mw).POST("/", handler)
		},
		"route": func(e *gin.Engine, mw, handler gin.HandlerFunc) { e.POST("/", mw, handler) },
		"wrapped": func(e *gin.Engine, mw, handler gin.HandlerFunc) {
			e.POST("/", wrap, mw, handler)
		},
		"outside of ResponseMiddleware": func(e *gin.Engine, mw, handler gin.HandlerFunc) {
			e.POST("/", mw, xmiddle.ResponseMiddleware, handler)
		},
	} {
		for _, tc := range outcomes {
			t.Run(name+" of "+tc.name, func(t *testing.T) {
				limit := int64(4)
				if tc.status == http.StatusRequestEntityTooLarge {
					limit = 3
				}
				engine, _ := newEngine(t, xhelper.Config{MaxBodyBytes: limit})
				var w statusRecorder
				mount(engine, w.middleware, tc.handler)
				res := send(engine, httptest.NewRequestWithContext(t.Context(), http.MethodPost,
					"/", strings.NewReader("four")))
				if res.Code != tc.status {
					t.Fatalf("client got %d, want %d", res.Code, tc.status)
				}
				if strings.HasPrefix(tc.name, "a panic") {
					w.after = w.deferred // Next does not return
				}
				if w.before != http.StatusOK || w.after != tc.status || w.deferred != tc.status {
					t.Errorf("middleware saw %+v, client got %d", w, tc.status)
				}
			})
		}
	}
}

func TestServe_MiddlewareStatus_UnknownRoute(t *testing.T) {
	for name, change := range map[string]func(*gin.Engine){
		"of gin":    func(*gin.Engine) {},
		"of xroute": func(e *gin.Engine) { e.NoRoute(xroute.NoRoute); e.NoMethod(xroute.NoMethod) },
	} {
		engine, _ := newEngine(t, xhelper.Config{})
		var w statusRecorder
		engine.Use(w.middleware)
		change(engine)
		engine.GET("/", success)
		for path, want := range map[string]int{
			"/nowhere": http.StatusNotFound,
			"/":        http.StatusMethodNotAllowed,
		} {
			if res := do(engine, http.MethodPut, path); res.Code != want || w.after != want ||
				w.deferred != want {
				t.Errorf("%s: %s: middleware saw %+v, client got %d, want %d",
					name, path, w, res.Code, want)
			}
		}
	}
}

// A shutdown cancels requests with a cause.
func TestServe_MiddlewareStatus_ContextCause(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	var w statusRecorder
	engine.Use(w.middleware)
	ctx, cancel := context.WithCancelCause(t.Context())
	engine.GET("/", func(c *gin.Context) {
		cancel(xerror.New(xerror.ServiceUnavailable, ""))
		_ = c.Error(errors.Join(context.Canceled))
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if res := send(engine, req); res.Code != http.StatusServiceUnavailable || w.after != res.Code {
		t.Errorf("middleware saw %+v, client got %d", w, res.Code)
	}
}

// A handler sees the status that it set, even if an error is pending.
func TestServe_HandlerStatus(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		_ = c.Error(errUnknown)
		if got := c.Writer.Status(); got != http.StatusOK {
			t.Errorf("status before = %d", got)
		}
		c.Status(http.StatusAccepted)
		if got := c.Writer.Status(); got != http.StatusAccepted {
			t.Errorf("status after = %d", got)
		}
		success(c)
	})
	if res := do(engine, http.MethodGet, "/"); res.Code != http.StatusAccepted {
		t.Errorf("client got %d", res.Code)
	}
}

// c.Abort does not stop the handler that calls it.
func TestServe_HandlerStatus_Abort(t *testing.T) {
	for _, tc := range []struct {
		name  string
		abort gin.HandlerFunc
		want  int
	}{
		{"without a status", func(c *gin.Context) { c.Abort() }, 200},
		{"after a status", func(c *gin.Context) { c.Status(http.StatusAccepted); c.Abort() }, 202},
		{"with a status", func(c *gin.Context) { c.AbortWithStatus(http.StatusConflict) }, 409},
		{"with an error", func(c *gin.Context) { _ = c.Error(xerror.Forbidden); c.Abort() }, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var inside, outside int
			handler := func(c *gin.Context) {
				tc.abort(c)
				inside = c.Writer.Status()
				c.JSON(inside, gin.H{})
			}
			engine, _ := newEngine(t, xhelper.Config{},
				func(c *gin.Context) { c.Next(); outside = c.Writer.Status() })
			engine.GET("/", handler)
			res := do(engine, http.MethodGet, "/")
			if inside != tc.want || outside != tc.want || res.Code != tc.want {
				t.Errorf("handler saw %d, the middleware %d, client got %d, want %d",
					inside, outside, res.Code, tc.want)
			}
		})
	}
}

func TestServe_FailureLog(t *testing.T) {
	logged := func(c *gin.Context) { // NewInternalServerError logs the error
		_ = c.Error(xerror.NewInternalServerError(c, "logged", errUnknown))
	}
	for _, tc := range append(outcomes, outcome{"a logged error", logged, 500}) {
		engine, log := newEngine(t, xhelper.Config{})
		engine.POST("/", tc.handler)
		res := send(engine, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			http.NoBody))
		want := 0
		if res.Code >= http.StatusInternalServerError {
			want = 1
		}
		if got := strings.Count(log.String(), `"level":"error"`); got != want {
			t.Errorf("%s: %d lines at ERROR, want %d: %s", tc.name, got, want, log)
		}
		if got := len(log.with(t, "request")); got != 1 {
			t.Errorf("%s: %d lines of the access log, want 1", tc.name, got)
		}
	}
}

func TestServe_EnvelopeHeaders(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/success", success)
	engine.GET("/404", func(c *gin.Context) { _ = c.Error(xerror.NotFound) })
	engine.GET("/503", func(c *gin.Context) { _ = c.Error(xerror.ServiceUnavailable) })
	engine.GET("/busy", func(c *gin.Context) { c.AbortWithStatus(http.StatusServiceUnavailable) })
	engine.GET("/later", func(c *gin.Context) {
		c.Header("Retry-After", "3600")
		_ = c.Error(xerror.SystemMaintenance)
	})
	for path, retry := range map[string]string{
		"/success": "",
		"/404":     "",
		"/nowhere": "",
		"/503":     "5",
		"/busy":    "5",
		"/later":   "3600",
	} {
		h := do(engine, http.MethodGet, path).Header()
		if got := h.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options = %q, want nosniff", path, got)
		}
		if got := h.Get("Retry-After"); got != retry {
			t.Errorf("%s: Retry-After = %q, want %q", path, got, retry)
		}
	}
}
