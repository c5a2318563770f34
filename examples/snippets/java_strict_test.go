package snippets_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xerror/javacode"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// strictErrors lists errors with their code and status in each Java profile.
var strictErrors = []struct {
	name         string
	err          error
	status, code int
	strictStatus int
	strictCode   int
}{
	{"permission", fmt.Errorf("read: %w", fs.ErrPermission), 403, 40302, 401, 40101},
	{"file", &fs.PathError{Op: "read", Err: fs.ErrInvalid}, 500, 50004, 400, 40018},
	{"network", &net.OpError{Op: "dial", Err: errors.New("secret")}, 500, 50009, 400, 40018},
	{"timeout", context.DeadlineExceeded, 504, 50201, 408, 40801},
	{"wrapped", xerror.From(&fs.PathError{Op: "read", Err: fs.ErrInvalid}), 500, 50004, 400, 40018},
	{"missing file", fs.ErrNotExist, 400, 40000, 400, 40000},
	{"unknown", errors.New("secret"), 500, 50001, 500, 50001},
	{
		"permission of the application",
		xerror.New(xerror.PermissionDenied, ""), 403, 40302, 403, 40302,
	},
	{
		"file of the application",
		xerror.Wrap(xerror.FileError, "", fs.ErrClosed), 500, 50004, 500, 50004,
	},
	{"body of the application", xerror.New(xerror.BodyError, ""), 400, 40007, 400, 40002},
	{
		"missing parameter of the application",
		xerror.New(xerror.ParameterEmpty, ""), 400, 40003, 400, 40002,
	},
	{"parameter of the application", xerror.New(xerror.ParameterError, ""), 400, 40002, 400, 40002},
}

func TestJavaStrict(t *testing.T) {
	route := xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		for i, tc := range strictErrors {
			engine.GET(fmt.Sprintf("/error/%d", i), func(c *gin.Context) { _ = c.Error(tc.err) })
		}
		engine.POST("/body", func(c *gin.Context) {
			var in struct {
				Name string `binding:"required" json:"name"`
			}
			if xbind.Bind(c, &in).Data() != nil {
				c.Status(http.StatusNoContent)
			}
		})
		engine.GET("/query", func(c *gin.Context) {
			var in struct {
				Page int `form:"page"`
			}
			if xbind.Bind(c, &in).Query() != nil {
				c.Status(http.StatusNoContent)
			}
		})
		engine.GET("/required", func(c *gin.Context) {
			var in struct {
				Page int `binding:"required" form:"page"`
			}
			if xbind.Bind(c, &in).Query() != nil {
				c.Status(http.StatusNoContent)
			}
		})
	})
	for _, profile := range []string{"java", "java-strict"} {
		t.Run(profile, func(t *testing.T) {
			t.Setenv("PLINTH_ENVELOPE", profile)
			app := plinthtest.New(t, route)
			strict := profile == "java-strict"
			for i, tc := range strictErrors {
				status, code := tc.status, tc.code
				if strict {
					status, code = tc.strictStatus, tc.strictCode
				}
				r := app.Request(http.MethodGet, fmt.Sprintf("/error/%d", i), nil)
				if r.Status() != status || r.Code() != code ||
					strings.Contains(r.Body(), "secret") {
					t.Errorf("%s: got %d %s, want %d with code %d",
						tc.name, r.Status(), r.Body(), status, code)
				}
				if !strings.Contains(r.Body(), `"duration":`) {
					t.Errorf("%s: got %s, want the Java body", tc.name, r.Body())
				}
			}
			for _, tc := range []struct {
				method, path, body string
				code               int
			}{
				{http.MethodPost, "/body", `{}`, 40007},
				{http.MethodPost, "/body", `{`, 40007},
				{http.MethodPost, "/body", ``, 40008},
				{http.MethodPost, "/body", `{"name":7}`, 40011},
				{http.MethodGet, "/query?page=x", ``, 40006},
				{http.MethodGet, "/required", ``, 40002},
			} {
				want := tc.code
				if strict {
					want = 40002
				}
				r := app.Request(tc.method, tc.path, tc.body)
				if r.Status() != http.StatusBadRequest || r.Code() != want {
					t.Errorf("%s %s %s: got %d %s, want 400 with code %d",
						tc.method, tc.path, tc.body, r.Status(), r.Body(), want)
				}
			}
		})
	}
}

// TestJavaStrict_Log checks that the log contains the code of the catalog, and not that
// of the profile.
func TestJavaStrict_Log(t *testing.T) {
	t.Setenv("PLINTH_ENVELOPE", "java-strict")
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.GET("/file", func(c *gin.Context) {
			_ = c.Error(&fs.PathError{Op: "read", Err: fs.ErrInvalid})
		})
	}))
	if r := app.Request(http.MethodGet, "/file", nil); r.Status() != http.StatusBadRequest {
		t.Errorf("got status %d, want 400", r.Status())
	}
	for _, want := range []string{"FILE_ERROR", "read : invalid argument", `"level":"error"`} {
		if !strings.Contains(app.LogText(), want) {
			t.Errorf("log does not contain %s: %s", want, app.LogText())
		}
	}
}

func TestJavaOnlyCodes(t *testing.T) {
	for _, tc := range []struct {
		code *xerror.ErrorCode
		want string
	}{
		{javacode.BodyInvalid, `"output":"BodyInvalid","code":40009,`},
		{javacode.HeaderInvalid, `"output":"HeaderInvalid","code":40014,`},
		{javacode.HeaderIllegal, `"output":"HeaderIllegal","code":40015,`},
		{javacode.OperationIllegal, `"output":"OperationIllegal","code":40020,`},
		{javacode.OperationTypeError, `"output":"OperationTypeError","code":40025,`},
		{javacode.RequestError, `"output":"RequestError","code":40027,`},
		{javacode.NetworkNotSuccess, `"output":"NetworkNotSuccess","code":50010,`},
	} {
		for _, profile := range []string{"java", "java-strict"} {
			t.Run(tc.code.GetOutput()+" "+profile, func(t *testing.T) {
				t.Setenv("PLINTH_ENVELOPE", profile)
				app := plinthtest.New(t,
					xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
						engine.POST("/",
							func(c *gin.Context) { _ = c.Error(xerror.New(tc.code, "")) })
					}))
				r := app.Request(http.MethodPost, "/", nil)
				if r.Status() != tc.code.Status() || !strings.Contains(r.Body(), tc.want) {
					t.Errorf("got %d %s, want %s", r.Status(), r.Body(), tc.want)
				}
			})
		}
	}
}

func TestJavaOnlyCodes_Body(t *testing.T) {
	t.Setenv("PLINTH_ENVELOPE", "java")
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.POST("/orders", func(c *gin.Context) {
			_ = c.Error(xerror.New(javacode.BodyInvalid, "the order contradicts itself"))
		})
	}))
	body := app.Request(http.MethodPost, "/orders", nil).Body()
	if !strings.Contains(body, `"errorMessage":"the order contradicts itself"`) {
		t.Errorf("got %s, want the message", body)
	}
}
