package xmiddle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestResponseMiddleware(t *testing.T) {
	t.Run("responds in an engine without Serve", func(t *testing.T) {
		engine := gin.New()
		engine.Use(xmiddle.ResponseMiddleware)
		engine.GET("/error", func(c *gin.Context) {
			_ = c.Error(xerror.New(xerror.Existed, "taken"))
		})
		engine.GET("/bare", func(c *gin.Context) { c.AbortWithStatus(http.StatusTooManyRequests) })
		engine.GET("/nothing", func(*gin.Context) {})
		engine.GET("/204", func(c *gin.Context) { c.Status(http.StatusNoContent) })
		wantOutput(t, do(engine, http.MethodGet, "/error"), http.StatusBadRequest, "EXISTED")
		wantOutput(t, do(engine, http.MethodGet, "/bare"), http.StatusTooManyRequests,
			"TOO_MANY_REQUESTS")
		wantOutput(t, do(engine, http.MethodGet, "/nothing"), http.StatusInternalServerError,
			"DEVELOPER_ERROR")
		wantOutput(t, do(engine, http.MethodGet, "/nowhere"), http.StatusNotFound, "PAGE_NOT_FOUND")
		if w := do(engine, http.MethodGet, "/204"); w.Code != http.StatusNoContent ||
			w.Body.Len() != 0 {
			t.Errorf("got %d %q, want an empty 204", w.Code, w.Body)
		}
	})

	t.Run("responds once together with Serve", func(t *testing.T) {
		engine := newEngine(xhelper.Config{}, xmiddle.ResponseMiddleware,
			xmiddle.ResponseMiddleware)
		engine.GET("/error", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.Existed, "")) })
		wantOutput(t, do(engine, http.MethodGet, "/error"), http.StatusBadRequest, "EXISTED")
	})
}

func TestUseProfile(t *testing.T) {
	t.Run("changes the envelope of its routes", func(t *testing.T) {
		for name, engine := range map[string]*gin.Engine{
			"Plinth's engine": newEngine(xhelper.Config{}),
			"bare gin":        gin.New(),
		} {
			t.Run(name, func(t *testing.T) {
				java := engine.Group("/java", xmiddle.UseProfile(xbase.ProfileJava))
				java.GET("/ok", success)
				java.GET("/error",
					func(c *gin.Context) { xresult.Error(c, xerror.ParameterError, "", nil) })
				engine.GET("/go", success)
				wantOutput(t, do(engine, http.MethodGet, "/java/error"), http.StatusBadRequest,
					"ParameterError")
				for path, want := range map[string]bool{"/java/ok": true, "/go": false} {
					body := do(engine, http.MethodGet, path).Body.String()
					if got := strings.Contains(body, `"duration"`); got != want {
						t.Errorf("%s: has duration = %t, want %t", path, got, want)
					}
				}
			})
		}
	})

	t.Run("panics for an unknown profile", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		xmiddle.UseProfile(9)
	})
}

func TestAllowOption(t *testing.T) {
	for name, handler := range map[string]gin.HandlerFunc{
		"AllowOption":        xmiddle.AllowOption,
		"AllowOptionRequest": xmiddle.AllowOptionRequest,
	} {
		t.Run(name, func(t *testing.T) {
			engine := newEngine(xhelper.Config{}, handler)
			for _, tc := range []struct {
				method, path string
				want         string
			}{
				{http.MethodOptions, "/item", "204 GET, PUT, OPTIONS"},
				{http.MethodOptions, "/nowhere", "404 "},
				{http.MethodOptions, "/other", "200 "},
				{http.MethodGet, "/item", "200 "},
				{http.MethodPost, "/item", "405 GET, PUT"},
			} {
				w := do(engine, tc.method, tc.path)
				if got := fmt.Sprint(w.Code, " ", w.Header().Get("Allow")); got != tc.want {
					t.Errorf("%s %s: got %q, want %q", tc.method, tc.path, got, tc.want)
				}
			}
		})
	}
}

func TestRequireReferer(t *testing.T) {
	engine := newEngine(xhelper.Config{}, xmiddle.RequireReferer)
	wantOutput(t, do(engine, http.MethodGet, "/item"), http.StatusForbidden, "FORBIDDEN")
	wantOutput(t, do(engine, http.MethodGet, "/item", "Referer", " "), http.StatusForbidden,
		"FORBIDDEN")
	wantOutput(t, do(engine, http.MethodGet, "/item", "Referer", "https://example.org/"),
		http.StatusOK, "Success")
}

func TestDebugOnly(t *testing.T) {
	engine := newEngine(xhelper.Config{}, xmiddle.DebugOnly)
	wantOutput(t, do(engine, http.MethodGet, "/item"), http.StatusUnauthorized, "UNAUTHORIZED")
	engine = newEngine(xhelper.Config{Debug: true}, xmiddle.DebugOnly)
	wantOutput(t, do(engine, http.MethodGet, "/item"), http.StatusOK, "Success")
}

func TestRequirePermission(t *testing.T) {
	t.Run("requires all permissions", func(t *testing.T) {
		granted := []string{"user:item:read", "user:item:write"}
		check := func(ctx context.Context, permission string) (bool, error) {
			if _, ok := ctx.(*gin.Context); !ok {
				t.Errorf("context = %T, want *gin.Context", ctx)
			}
			if permission == "login" {
				return true, xerror.New(xerror.TokenExpired, "")
			}
			if permission == "broken" {
				return false, errors.New("no database")
			}
			return slices.Contains(granted, permission), nil
		}
		for _, tc := range []struct {
			name   string
			need   []string
			status int
			want   string
		}{
			{name: "one", need: []string{"user:item:read"}, status: 200, want: "Success"},
			{name: "both", need: granted, status: 200, want: "Success"},
			{
				name: "one is missing",
				need: []string{"user:item:read", "user:item:delete"}, status: 403,
				want: "PERMISSION_DENIED",
			},
			{
				name: "an error with a code",
				need: []string{"login"}, status: 401, want: "TOKEN_EXPIRED",
			},
			{
				name: "an unknown error",
				need: []string{"broken"}, status: 500, want: "SERVER_INTERNAL_ERROR",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				w := do(newEngine(xhelper.Config{}, xmiddle.RequirePermission(check, tc.need...)),
					http.MethodGet, "/item")
				wantOutput(t, w, tc.status, tc.want)
				if strings.Contains(w.Body.String(), "user:item") {
					t.Errorf("body contains the permission: %s", w.Body)
				}
			})
		}
	})

	t.Run("panics without a checker or names", func(t *testing.T) {
		check := func(context.Context, string) (bool, error) { return true, nil }
		for name, build := range map[string]func(){
			"no names":   func() { xmiddle.RequirePermission(check) },
			"no checker": func() { xmiddle.RequirePermission(nil, "a:b:c") },
		} {
			t.Run(name, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				build()
			})
		}
	})
}

func ExampleRequirePermission() {
	check := func(_ context.Context, permission string) (bool, error) {
		return permission == "user:item:read", nil
	}
	engine := gin.New()
	engine.GET("/item", xmiddle.RequirePermission(check, "user:item:read"), success)
	engine.DELETE("/item", xmiddle.RequirePermission(check, "user:item:delete"), success)
	fmt.Println(do(engine, http.MethodGet, "/item").Code,
		do(engine, http.MethodDelete, "/item").Code)
	// Output: 200 403
}
