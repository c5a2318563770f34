package xapi_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
)

func TestHandle_Results(t *testing.T) {
	type value struct {
		N int `json:"n"`
	}
	type withHeaders struct {
		N        int       `json:"n"`
		Location string    `header:"location" json:"-"`
		Count    int       `header:"X-Count"  json:"-"`
		Links    []string  `header:"Link"     json:"-"`
		Modified time.Time `header:"Last-Modified" json:"-"`
		Limit    *int      `header:"X-Limit"  json:"-"`
	}
	five := 5
	when := time.Date(2024, 2, 29, 10, 0, 0, 0, time.FixedZone("", 3600))
	results := map[string]*withHeaders{
		"all": {1, "/x", 2, []string{"a", "b"}, when, &five}, "empty": {}, "nil": nil,
	}
	type named struct {
		Name string `uri:"name"`
	}
	app := serve(t, func(e *gin.Engine) {
		xapi.Get(e, "/empty", func(context.Context, *struct{}) (xapi.Empty, error) {
			return xapi.Empty{}, nil
		}, xapi.Status(http.StatusCreated))
		xapi.Get(e, "/empty-pointer", func(context.Context, *struct{}) (*xapi.Empty, error) {
			return nil, nil
		})
		xapi.Get(e, "/nil", func(context.Context, *struct{}) (*value, error) { return nil, nil })
		xapi.Get(e, "/value", func(context.Context, *struct{}) (value, error) { return value{3}, nil })
		xapi.Get(e, "/list", func(context.Context, *struct{}) ([]value, error) {
			return []value{{1}, {2}}, nil
		})
		xapi.Get(e, "/any", func(context.Context, *struct{}) (any, error) { return 1, nil })
		xapi.Get(e, "/nothing", func(context.Context, *struct{}) (struct{}, error) {
			return struct{}{}, nil
		})
		xapi.Get(e, "/nothing-pointer", func(context.Context, *struct{}) (*struct{}, error) {
			return nil, nil
		})
		xapi.Get(e, "/headers/:name", func(_ context.Context, in *named) (*withHeaders, error) {
			return results[in.Name], nil
		})
	})
	for path, want := range map[string]string{
		"/nil": `"message":"OK"}`, "/value": `"data":{"n":3}}`, "/list": `"data":[{"n":1},{"n":2}]}`,
		"/any": `"data":1}`, "/nothing": `"message":"OK"}`,
		"/nothing-pointer": `"message":"OK"}`, "/headers/all": `"data":{"n":1}}`,
	} {
		if r := app.Request(http.MethodGet, path, nil); r.Status() != 200 ||
			!strings.HasSuffix(r.Body(), want) {
			t.Errorf("%s: %d %s, want 200 with %s", path, r.Status(), r.Body(), want)
		}
	}
	for _, path := range []string{"/empty", "/empty-pointer"} {
		r := app.Request(http.MethodGet, path, nil)
		if r.Status() != http.StatusNoContent || r.Body() != "" || r.Header().Get("Content-Type") != "" {
			t.Errorf("%s: %d %q %v, want 204 without a body", path, r.Status(), r.Body(), r.Header())
		}
	}
	for name, want := range map[string]http.Header{
		"all": {
			"Location": {"/x"}, "X-Count": {"2"}, "Link": {"a", "b"},
			"Last-Modified": {"Thu, 29 Feb 2024 09:00:00 GMT"}, "X-Limit": {"5"},
		},
		"empty": {"X-Count": {"0"}}, "nil": {},
	} {
		r := app.Request(http.MethodGet, "/headers/"+name, nil)
		got := http.Header{}
		for _, h := range []string{"Location", "X-Count", "Link", "Last-Modified", "X-Limit"} {
			if v := r.Header().Values(h); v != nil {
				got[h] = v
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || r.Status() != 200 {
			t.Errorf("%s: %d, headers (-want +got):\n%s", name, r.Status(), diff)
		}
	}
}

func TestJSON(t *testing.T) {
	app := serve(t, func(e *gin.Engine) {
		xapi.Get(e, "/pong", func(context.Context, *struct{}) (xapi.JSON[gin.H], error) {
			return xapi.JSON[gin.H]{Value: gin.H{"message": "pong"}}, nil
		}, xapi.Status(http.StatusAccepted))
		xapi.Get(e, "/error", func(context.Context, *struct{}) (xapi.JSON[gin.H], error) {
			return xapi.JSON[gin.H]{}, xerror.New(xerror.NotFound, "")
		})
		xapi.Get(e, "/unencodable", func(context.Context, *struct{}) (xapi.JSON[any], error) {
			return xapi.JSON[any]{Value: func() {}}, nil
		})
	})
	r := app.Request(http.MethodGet, "/pong", nil)
	if r.Status() != http.StatusAccepted || r.Body() != `{"message":"pong"}` ||
		r.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d %s %v, want 202 with the value", r.Status(), r.Body(), r.Header())
	}
	for path, want := range map[string]*xerror.ErrorCode{
		"/error": xerror.NotFound, "/unencodable": xerror.SerializeError,
	} {
		if r := app.Request(http.MethodGet, path, nil); r.Code() != want.GetCode() {
			t.Errorf("%s: %d %s, want %v", path, r.Status(), r.Body(), want)
		}
	}
	ops, err := xapi.Operations(app.Engine())
	if err != nil || ops[0].Response != xapi.ResponseJSON || ops[0].Data != reflect.TypeFor[gin.H]() {
		t.Errorf("operation = %+v, %v, want a JSON value of gin.H", ops[0], err)
	}
}

func TestProfile(t *testing.T) {
	app := serve(t, func(e *gin.Engine) {
		java := xapi.Group(e, "/java", xapi.Profile(xbase.ProfileJava))
		xapi.Get(java, "", func(context.Context, *struct{}) (string, error) { return "a", nil })
		xapi.Get(java, "/plinth", func(context.Context, *struct{}) (string, error) {
			return "a", nil
		}, xapi.Profile(xbase.ProfilePlinth))
	})
	if r := app.Request(http.MethodGet, "/java", nil); !strings.Contains(r.Body(), `"errorMessage":null`) {
		t.Errorf("response = %s, want the Java format", r.Body())
	}
	r := app.Request(http.MethodGet, "/java/plinth", nil)
	if strings.Contains(r.Body(), `"errorMessage"`) {
		t.Errorf("response = %s, want the format of Plinth", r.Body())
	}
	ops, err := xapi.Operations(app.Engine())
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		want := xbase.ProfileJava
		if op.Path == "/java/plinth" {
			want = xbase.ProfilePlinth
		}
		if op.Profile == nil || *op.Profile != want {
			t.Errorf("profile of %s = %v, want %v", op.Path, op.Profile, want)
		}
	}
}
