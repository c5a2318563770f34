package xreg_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// ok registers a route that responds with an empty success.
func ok(_ context.Context, e *gin.Engine) {
	e.GET("/ok", func(c *gin.Context) { xresult.Success(c, "fine") })
}

func TestReg_Serve(t *testing.T) {
	t.Run("unknown paths and methods return an envelope", func(t *testing.T) {
		reg, _ := start(t, nil, xoption.WithRoute(ok))
		w := get(reg, "GET", "/nowhere")
		if r := decode[xbase.BaseResponse](t, w); w.Code != http.StatusNotFound ||
			r.Code != xerror.PageNotFound.GetCode() || r.Context == "" {
			t.Errorf("unknown path = %d %s", w.Code, w.Body)
		}
		w = get(reg, "POST", "/ok")
		if r := decode[xbase.BaseResponse](t, w); w.Code != http.StatusMethodNotAllowed ||
			r.Output != "METHOD_NOT_ALLOWED" || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("unsupported method = %d %s, Allow %q",
				w.Code, w.Body, w.Header().Get("Allow"))
		}
	})

	t.Run("every route has a request ID, recovery, error responses and an access log",
		func(t *testing.T) {
			reg, out := start(t, nil, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/panics", func(*gin.Context) { panic("oh") })
				e.GET("/fails", func(c *gin.Context) {
					_ = c.Error(xerror.New(xerror.Existed, "taken"))
				})
			}))
			w := get(reg, "GET", "/panics")
			if r := decode[xbase.BaseResponse](t, w); w.Code != http.StatusInternalServerError ||
				r.Context != w.Header().Get("X-Request-UUID") || r.Context == "" {
				t.Errorf("panic = %d %s", w.Code, w.Body)
			}
			w = get(reg, "GET", "/fails")
			if r := decode[xbase.BaseResponse](t, w); w.Code != http.StatusBadRequest ||
				r.Output != "EXISTED" || r.ErrorMessage != "taken" {
				t.Errorf("error = %d %s", w.Code, w.Body)
			}
			if linesWith(out, "/fails") != 1 {
				t.Errorf("log\n%s\nwant one line for the request", out)
			}
		})

	t.Run("the gin context carries the application's values", func(t *testing.T) {
		var got any
		nodes := []xregnode.Node{{
			Key:  "a",
			Node: func(context.Context) (any, error) { return 7, nil },
		}}
		reg, _ := start(t, nodes, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/", func(c *gin.Context) {
				got = c.Value(xctx.ContextKey("a"))
				if xhook.From(c) == nil || xregnode.From(c) == nil {
					t.Error("the lifecycle or the nodes are missing")
				}
				c.Status(http.StatusNoContent)
			})
		}))
		if get(reg, "GET", "/"); got != 7 {
			t.Errorf("value = %v, want 7", got)
		}
	})

	t.Run("a body over the limit is rejected", func(t *testing.T) {
		reg, _ := start(t, nil, xoption.WithMaxBodyBytes(10),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.POST("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
			}))
		w := post(reg, "/", strings.Repeat("x", 11))
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("11 bytes = %d, want 413", w.Code)
		}
		if w := post(reg, "/", strings.Repeat("x", 10)); w.Code != http.StatusNoContent {
			t.Errorf("10 bytes = %d, want 204", w.Code)
		}
	})
}

func TestClientIP(t *testing.T) {
	t.Run("X-Forwarded-For is used for trusted proxies only", func(t *testing.T) {
		address := func(opts ...xoption.Option) string {
			got := ""
			reg, _ := start(t, nil,
				append(opts, xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
					e.GET("/", func(c *gin.Context) {
						got = c.ClientIP()
						c.Status(http.StatusNoContent)
					})
				}))...)
			get(reg, "GET", "/", "X-Forwarded-For", "203.0.113.9")
			return got
		}
		if got := address(); got != "192.0.2.1" {
			t.Errorf("by default = %s, want the peer 192.0.2.1", got)
		}
		if got := address(xoption.WithTrustedProxies("192.0.2.0/24")); got != "203.0.113.9" {
			t.Errorf("from a trusted proxy = %s, want 203.0.113.9", got)
		}
		t.Setenv("PLINTH_TRUSTED_PROXIES", "192.0.2.1")
		if got := address(); got != "203.0.113.9" {
			t.Errorf("trusted by the environment = %s, want 203.0.113.9", got)
		}
		if got := address(xoption.WithTrustedProxies()); got != "192.0.2.1" {
			t.Errorf("no trusted proxy = %s, want the peer", got)
		}
	})

	t.Run("X-Real-IP is ignored", func(t *testing.T) {
		got := ""
		reg, _ := start(t, nil, xoption.WithTrustedProxies("192.0.2.0/24"),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/", func(c *gin.Context) {
					got = c.ClientIP()
					c.Status(http.StatusNoContent)
				})
			}))
		if get(reg, "GET", "/", "X-Real-IP", "203.0.113.9"); got != "192.0.2.1" {
			t.Errorf("X-Real-IP alone: %s, want the peer 192.0.2.1", got)
		}
		if get(reg, "GET", "/", "X-Real-IP", "203.0.113.9", "X-Forwarded-For",
			"203.0.113.7"); got != "203.0.113.7" {
			t.Errorf("both headers: %s, want the address in X-Forwarded-For", got)
		}
	})
}

func TestReg_Settings_Server(t *testing.T) {
	reg, _ := start(t, nil)
	s := reg.Settings().Server
	if s.ReadHeaderTimeout.String() != "5s" || s.ReadTimeout.String() != "30s" ||
		s.IdleTimeout.String() != "2m0s" || s.MaxHeaderBytes != 64<<10 {
		t.Errorf("defaults = %s %s %s %d",
			s.ReadHeaderTimeout, s.ReadTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
	t.Setenv("PLINTH_READ_HEADER_TIMEOUT", "0")
	t.Setenv("PLINTH_READ_TIMEOUT", "1m")
	reg, _ = start(t, nil, xoption.WithServer(func(s *http.Server) { s.MaxHeaderBytes = 1 << 20 }))
	s = reg.Settings().Server
	for _, change := range reg.Settings().ChangeServer {
		change(s)
	}
	if s.ReadHeaderTimeout > 0 || s.ReadTimeout.String() != "1m0s" || s.MaxHeaderBytes != 1<<20 {
		t.Errorf("changed = %s %s %d, want no header timeout, 1m, 1 MiB",
			s.ReadHeaderTimeout, s.ReadTimeout, s.MaxHeaderBytes)
	}
}

func TestWithErrorMapper(t *testing.T) {
	mine := errors.New("mine")
	base, _ := isolated(t)
	reg, err := xreg.New(t.Context(), nil, base,
		xoption.WithErrorMapper(xerror.MapIs(mine, xerror.Locked)))
	if err != nil {
		t.Fatal(err)
	}
	if got := xerror.From(mine).GetErrorCode(); got != xerror.Locked {
		t.Errorf("code = %s, want LOCKED", got)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := xerror.From(mine).GetErrorCode(); got != xerror.ServerInternalError {
		t.Errorf("code after Close = %s, want SERVER_INTERNAL_ERROR", got)
	}
}

func TestReg_Apply(t *testing.T) {
	t.Run("has the same effect as New", func(t *testing.T) {
		reg, _ := start(t, nil, xoption.WithRoute(ok))
		reg.Serve.GET("/direct", func(c *gin.Context) { xresult.Success(c, "direct") })
		late := []xoption.Option{
			xoption.WithProfile(xbase.ProfileJava), xoption.WithHealth(),
			xoption.WithServe(func(c *xhelper.Config) { c.EnableInput = false }),
			withPhase(startup.Phase{
				Name: "late", Key: "late",
				Start: func(context.Context) (any, error) { return 1, nil },
			}),
			xoption.WithNodes(xregnode.Node{
				Key: "after",
				Node: func(ctx context.Context) (any, error) {
					return ctx.Value(xctx.ContextKey("late")), nil
				},
			}),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
				e.GET("/late", func(c *gin.Context) {
					xresult.SuccessHasData(c, "late", c.Value(xctx.ContextKey("after")))
				})
			}),
		}
		if err := reg.Apply(late...); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/ok", "/direct", "/late"} {
			w := get(reg, "GET", path, "X-Request-UUID", "mine")
			if !strings.Contains(w.Body.String(), `"errorMessage":null`) ||
				w.Header().Get("X-Request-UUID") == "mine" {
				t.Errorf("%s = %s with id %q; want the Java profile and a generated ID",
					path, w.Body, w.Header().Get("X-Request-UUID"))
			}
		}
		if w := get(reg, "GET", "/late"); !strings.Contains(w.Body.String(), `"data":1`) {
			t.Errorf("/late = %s, want the value of the late node", w.Body)
		}
		if w := get(reg, "GET", "/healthz"); w.Code != http.StatusOK {
			t.Errorf("/healthz = %d, want 200", w.Code)
		}
	})

	t.Run("options that only Register accepts are errors", func(t *testing.T) {
		reg, _ := start(t, nil)
		base, _ := isolated(t)
		err := reg.Apply(base, xoption.WithEnvFile("x"))
		if got := len(report.List(err)); got != 4 {
			t.Errorf("Apply = %v, want errors for the ID node, the logger and both file options",
				err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reg.Apply() == nil {
			t.Error("Apply after Close = nil, want an error")
		}
	})
}
