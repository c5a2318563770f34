package snippets_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestJavaRequestID(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t,
		xoption.WithServe(func(c *xhelper.Config) {
			c.EnableInput = false
			c.ExcludeURLs = []string{"/static/**"}
		}),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			pong := func(c *gin.Context) { xresult.Success(c, "pong") }
			engine.GET("/ping", pong)
			engine.GET("/static/logo", pong)
		}),
	)
	sent := plinthtest.WithHeader("X-Request-UUID", "gateway-7")
	if id := app.Request(http.MethodGet, "/ping", nil, sent).RequestID(); id == "" ||
		id == "gateway-7" {
		t.Errorf("id = %q, want a new ID", id)
	}
	if r := app.Request(http.MethodGet, "/static/logo", nil, sent); r.RequestID() != "" ||
		r.Header().Get("X-Request-UUID") != "" {
		t.Errorf("id = %q, want no ID", r.RequestID())
	}
}

func TestJavaFilters(t *testing.T) {
	t.Parallel()
	image := func(c *gin.Context) { xresult.Success(c, "shown") }
	remove, dump := image, image
	check := func(_ context.Context, permission string) (bool, error) {
		return permission == "user:account:read", nil
	}
	app := plinthtest.New(t, xoption.WithDebug(false), xoption.WithProfile(xbase.ProfileJava),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.Use(xmiddle.MustCORS(xmiddle.CORSConfig{
				AllowOrigins: []string{"https://app.example.com"},
				AllowMethods: []string{http.MethodGet, http.MethodDelete},
				AllowHeaders: []string{"Authorization", "Content-Type"},
			}), xmiddle.AllowOption)
			engine.GET("/image/:name", xmiddle.RequireReferer, image)
			engine.DELETE("/user/:id",
				xmiddle.RequirePermission(check, "user:account:delete"), remove)
			engine.GET("/debug/dump", xmiddle.DebugOnly, dump)
		}))
	for _, tc := range []struct {
		method, path string
		status, want int
	}{
		{method: http.MethodGet, path: "/image/logo", status: http.StatusForbidden, want: 40301},
		{method: http.MethodDelete, path: "/user/7", status: http.StatusForbidden, want: 40302},
		{method: http.MethodGet, path: "/debug/dump", status: http.StatusUnauthorized, want: 40101},
	} {
		r := app.Request(tc.method, tc.path, nil)
		if r.Status() != tc.status || r.Code() != tc.want {
			t.Errorf("%s %s = %d %s, want %d %d",
				tc.method, tc.path, r.Status(), r.Body(), tc.status, tc.want)
		}
		t.Logf("%s %s: %d %s", tc.method, tc.path, r.Status(), r.Body())
	}
	r := app.Request(http.MethodOptions, "/user/7", nil,
		plinthtest.WithHeader("Origin", "https://app.example.com"),
		plinthtest.WithHeader("Access-Control-Request-Method", "DELETE"))
	if got := r.Header().Get("Access-Control-Allow-Methods"); r.Status() != http.StatusNoContent ||
		got != "DELETE" {
		t.Errorf("preflight = %d %v", r.Status(), r.Header())
	}
	if r := app.Request(http.MethodOptions, "/user/7", nil); r.Status() != http.StatusNoContent ||
		r.Header().Get("Allow") != "DELETE, OPTIONS" {
		t.Errorf("OPTIONS = %d %v", r.Status(), r.Header())
	}
}

func TestJavaAspect(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	engine, err := xlog.New(xlog.Config{
		Writer: &out, Format: xlog.FormatJSON, Level: slog.LevelDebug,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := xlog.NewContext(t.Context(), engine)
	header := http.Header{"Authorization": {"Bearer abc"}, "Accept": {"application/json"}}
	find := func(context.Context) error { return nil }
	err = xlog.WithName(xlog.NamedSERV).Trace(ctx, "User.Find", func(ctx context.Context) error {
		return find(ctx)
	}, slog.Any("headers", header))
	const fields = `"call":"User.Find","outcome":"ok","duration_ms":`
	if line := out.String(); err != nil || !strings.Contains(line, fields) ||
		strings.Contains(line, "abc") {
		t.Errorf("Trace = %v, line %s", err, line)
	}
	t.Log(out.String())
}
