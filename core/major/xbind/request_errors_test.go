package xbind_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xbind"
)

func TestBinder_Request_Errors(t *testing.T) {
	headers := []string{"X-Tenant", "acme"}
	id := []string{"id", "5"}
	for _, tc := range []struct {
		name  string
		input input
		code  *xerror.ErrorCode
		want  string
	}{
		{"no body", input{path: id, headers: headers}, xerror.BodyEmpty, ""},
		{"white space", input{path: id, headers: headers, body: " "}, xerror.BodyEmpty, ""},
		{"malformed", input{path: id, headers: headers, body: "{"}, xerror.BodyError, ""},
		{
			"content type",
			input{path: id, body: "{}", headers: []string{"Content-Type", "text/plain"}},
			xerror.UnsupportedMedia, "",
		},
		{
			"malformed query",
			input{path: id, headers: headers, query: "page=%zz", body: "{}"},
			xerror.ParameterError, "",
		},
		{
			"the code of the first failure",
			input{query: "page=11", body: `{"name":"a","address":{"city":"London"}}`},
			xerror.ParameterError, "id:required page:max X-Tenant:required name:min address.city:max",
		},
		{
			"header",
			input{path: id, body: `{"name":"a"}`},
			xerror.HeaderError, "X-Tenant:required name:min",
		},
		{
			"body",
			input{path: id, headers: headers, body: `{"name":"a"}`},
			xerror.BodyError, "name:min",
		},
		{
			"type of the body",
			input{path: id, headers: headers, body: `{"name":7}`},
			xerror.BodyType, "name:type",
		},
		{
			"format of a path parameter",
			input{path: []string{"id", "x"}, headers: headers, body: "{}"},
			xerror.ParameterError, "id:type",
		},
		{
			"type of a query parameter",
			input{path: id, headers: headers, query: "page=x", body: "{}"},
			xerror.ParameterType, "page:type",
		},
		{
			"types of several parameters",
			input{path: []string{"id", "x"}, headers: headers, query: "page=x", body: "{}"},
			xerror.ParameterError, "id:type page:type",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, failed := rejected[updateAccount](t, tc.input)
			if e.GetErrorCode() != tc.code || failed != tc.want {
				t.Errorf("%v with %q, want %v with %q", e, failed, tc.code, tc.want)
			}
		})
	}
	t.Run("elements of parameters and of the body", func(t *testing.T) {
		type lists struct {
			IDs   []int    `binding:"dive,min=1" form:"id"`
			Trace []string `binding:"dive,max=2" header:"x-trace"`
			Items []struct {
				Name string `binding:"required" json:"name"`
			} `binding:"dive" json:"items"`
		}
		i := input{
			query: "id=1&id=0", headers: []string{"X-Trace", "long"}, body: `{"items":[{}]}`,
		}
		const want = "id[1]:min X-Trace[0]:max items[0].name:required"
		if _, failed := rejected[lists](t, i); failed != want {
			t.Errorf("%q, want %q", failed, want)
		}
	})
	t.Run("struct-level rules name the parameter", func(t *testing.T) {
		xvalid.Engine().RegisterStructValidation(func(sl validator.StructLevel) {
			if p, _ := reflect.TypeAssert[Period](sl.Current()); p.From > p.Until {
				sl.ReportError(p.Until, "until", "Until", "gtefield", "From")
			}
		}, Period{})
		type report struct{ Period }
		e, failed := rejected[report](t, input{query: "from=2&until_day=1"})
		if failed != "until_day:gtefield" || e.GetErrorCode() != xerror.ParameterError {
			t.Errorf("%v with %q", e, failed)
		}
	})
	t.Run("a type parameter in the name", func(t *testing.T) {
		if _, failed := rejected[generic[[]string]](t, input{query: "limit=0"}); failed != "limit:min" {
			t.Errorf("%q, want limit:min", failed)
		}
	})
	t.Run("messages are in the language of the request", func(t *testing.T) {
		type query struct {
			Page int `binding:"max=10" form:"page"`
		}
		for text, want := range map[string]string{
			"page=11": "page必须小于或等于10", "page=x": "page必须是整数",
		} {
			c := input{query: text}.context()
			r := xctx.NewRequest(t.Context(), nil)
			r.SetAcceptLanguage("zh-CN")
			c.Request = c.Request.WithContext(r)
			xbind.Bind[query](c, nil).Request()
			if got := string(reported(t, c).GetErrorMessage()); got != want {
				t.Errorf("%s: message %q, want %q", text, got, want)
			}
		}
	})
	t.Run("contradictions are a DeveloperError", func(t *testing.T) {
		type wrong struct {
			ID int `form:"id" uri:"id"`
		}
		e, _ := rejected[wrong](t, input{})
		if e.GetErrorCode() != xerror.DeveloperError || !strings.Contains(e.Error(), "wrong") {
			t.Errorf("%v, want a DeveloperError with the type", e)
		}
	})
}

type Period struct {
	From  int `form:"from"`
	Until int `form:"until_day"`
}

type generic[T any] struct {
	Limit int `binding:"min=1" form:"limit"`
	Value T   `form:"value"`
}
