package snippets_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// xmiddleRoles contains the roles of an application's users.
type xmiddleRoles struct{}

// Of returns the roles of the user of a request.
func (xmiddleRoles) Of(context.Context) xmiddleRoles { return xmiddleRoles{} }

// Has reports whether a permission is granted.
func (xmiddleRoles) Has(permission string) bool { return permission == "user:account:read" }

func xmiddlePolicy(engine *gin.Engine) error {
	policy, err := xmiddle.CORS(xmiddle.CORSConfig{
		AllowOrigins:     []string{"https://app.example.com", "https://*.preview.example.com"},
		AllowCredentials: true,
		MaxAge:           10 * time.Minute,
	})
	if err != nil {
		return err
	}
	engine.Use(policy, xmiddle.AllowOption)
	return nil
}

func xmiddleRoutes(engine *gin.Engine) {
	roles := xmiddleRoles{}
	remove := func(c *gin.Context) { xresult.Success(c, "removed") }

	check := func(ctx context.Context, permission string) (bool, error) {
		return roles.Of(ctx).Has(permission), nil
	}
	engine.DELETE("/user/:id", xmiddle.RequirePermission(check, "user:account:delete"), remove)

	java := engine.Group("/legacy", xmiddle.UseProfile(xbase.ProfileJava))
	java.GET("/user", func(c *gin.Context) { xresult.Success(c, "found") })
}

func TestXmiddle_PermissionAndProfile(t *testing.T) {
	t.Parallel()
	origin := plinthtest.WithHeader("Origin", "https://pr-7.preview.example.com")
	app := plinthtest.New(t, xoption.WithEngine(func(engine *gin.Engine) {
		if err := xmiddlePolicy(engine); err != nil {
			t.Error(err)
		}
		xmiddleRoutes(engine)
	}))
	r := app.Request(http.MethodDelete, "/user/7", nil, origin)
	if got := r.Header().Get("Access-Control-Allow-Origin"); r.Status() != http.StatusForbidden ||
		got == "" {
		t.Errorf("without the permission: %d, allowed origin %q", r.Status(), got)
	}
	r = app.Request(http.MethodGet, "/legacy/user", nil)
	if !strings.Contains(r.Body(), `"duration"`) {
		t.Errorf("profile of the Java library: %s", r.Body())
	}
}

func TestXmiddle_CORS(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithEngine(func(engine *gin.Engine) {
		if err := xmiddlePolicy(engine); err != nil {
			t.Error(err)
		}
		xmiddleRoutes(engine)
	}))
	const allowed, other = "https://app.example.com", "https://evil.example.net"
	for _, tc := range []struct {
		name, origin, method, path string
		status                     int
		wantOrigin, wantMethods    string
		wantAllow                  string
	}{
		{
			"a preflight", allowed, http.MethodDelete, "/user/7",
			http.StatusNoContent, allowed, "DELETE", "",
		},
		{
			"a preflight of another origin", other, http.MethodDelete, "/user/7",
			http.StatusNoContent, "", "", "",
		},
		{
			"OPTIONS without a preflight", "", "", "/user/7", http.StatusNoContent, "", "",
			"DELETE, OPTIONS",
		},
		{"OPTIONS of an unknown path", "", "", "/nothing", http.StatusNotFound, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := app.Request(http.MethodOptions, tc.path, nil,
				plinthtest.WithHeader("Origin", tc.origin),
				plinthtest.WithHeader("Access-Control-Request-Method", tc.method))
			h := r.Header()
			if r.Status() != tc.status {
				t.Errorf("got status %d %s, want %d", r.Status(), r.Body(), tc.status)
			}
			if got := h.Get("Access-Control-Allow-Origin"); tc.status == http.StatusNoContent &&
				got != tc.wantOrigin {
				t.Errorf("got allowed origin %q, want %q", got, tc.wantOrigin)
			}
			if got := h.Get("Access-Control-Allow-Methods"); tc.status == http.StatusNoContent &&
				got != tc.wantMethods {
				t.Errorf("got allowed methods %q, want %q", got, tc.wantMethods)
			}
			if got := h.Get("Allow"); tc.wantAllow != "" && got != tc.wantAllow {
				t.Errorf("got Allow %q, want %q", got, tc.wantAllow)
			}
		})
	}
}

func TestXmiddle_Handlers(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithEngine(func(engine *gin.Engine) {
		engine.Use(xmiddle.ResponseMiddleware, xmiddle.ReleaseAllCors, xmiddle.AllowOption)
		engine.GET("/", func(c *gin.Context) { _ = c.Error(errors.New("unknown")) })
	}))
	origin := plinthtest.WithHeader("Origin", "https://example.com")
	r := app.Request(http.MethodGet, "/", nil, origin)
	if got := r.Header().Get("Access-Control-Allow-Origin"); got != "*" ||
		r.Status() != http.StatusInternalServerError {
		t.Errorf("got %d, allowed origin %q", r.Status(), got)
	}
	if r := app.Request(http.MethodOptions, "/", nil); r.Status() != http.StatusNoContent ||
		r.Header().Get("Allow") == "" {
		t.Errorf("OPTIONS = %d, Allow %q", r.Status(), r.Header().Get("Allow"))
	}
}
