package snippets_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestJavaProfile(t *testing.T) {
	t.Parallel()

	t.Run("applies to an application or a route", func(t *testing.T) {
		t.Parallel()
		find := func(c *gin.Context) { xresult.SuccessHasData(c, "found", gin.H{"name": "Ada"}) }
		byApplication := plinthtest.New(t,
			xoption.WithProfile(xbase.ProfileJava),
			xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
				engine.GET("/user/:id", find)
			}),
		)
		byRoute := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			legacy := engine.Group("/api/v1", xmiddle.UseProfile(xbase.ProfileJava))
			legacy.GET("/user/:id", find)
			engine.GET("/api/v2/user/:id", find)
		}))
		for _, tc := range []struct {
			name string
			app  *plinthtest.App
			path string
			want bool
		}{
			{name: "application", app: byApplication, path: "/user/7", want: true},
			{
				name: "unknown path of the application", app: byApplication, path: "/nothing",
				want: true,
			},
			{name: "route of the group", app: byRoute, path: "/api/v1/user/7", want: true},
			{name: "other route", app: byRoute, path: "/api/v2/user/7", want: false},
			{name: "unknown path of the group", app: byRoute, path: "/api/v1/nothing", want: false},
		} {
			body := tc.app.Request(http.MethodGet, tc.path, nil).Body()
			if got := strings.Contains(body, `"errorMessage":null,"duration":`); got != tc.want {
				t.Errorf("%s: Java profile = %t in %s, want %t", tc.name, got, body, tc.want)
			}
		}
	})

	t.Run("is decoded by BaseResponse", func(t *testing.T) {
		t.Parallel()
		read := func(body []byte) (string, error) {
			var user struct{ Name string }
			envelope := xbase.BaseResponse{Data: &user}
			if err := json.Unmarshal(body, &envelope); err != nil {
				return "", err
			}
			if envelope.Code != xbase.CodeSuccess {
				return "", xerror.New(xerror.RemoteError, xerror.ErrMessage(envelope.Output))
			}
			return user.Name, nil
		}
		name, err := read([]byte(
			`{"context":"7","output":"Success","code":200,"message":"found","errorMessage":null,"duration":3,"data":{"name":"Ada"}}`))
		if name != "Ada" || err != nil {
			t.Errorf("read = %q, %v", name, err)
		}
		if _, err := read([]byte(
			`{"context":"7","output":"NotExist","code":40000,"message":"no","errorMessage":null,"duration":3,"data":null}`)); err == nil {
			t.Error("got no error for an error envelope")
		}
	})
}

func TestJavaPageDTO(t *testing.T) {
	t.Parallel()
	list := func(c *gin.Context) {
		page := xmodels.NewPage(2, 2, 5, []string{"ada", "bob"})
		xresult.SuccessHasData(c, "found", page.DTO())
	}
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.GET("/user", list)
	}))
	var got json.RawMessage
	app.Request(http.MethodGet, "/user", nil).Into(&got)
	if want := `{"records":["ada","bob"],"total":5,"size":2,"current":2}`; string(got) != want {
		t.Errorf("data = %s, want %s", got, want)
	}
}
