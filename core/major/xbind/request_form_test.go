package xbind_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type avatarForm struct {
	ID      int           `uri:"id"`
	Tenant  string        `header:"X-Tenant"`
	Title   string        `binding:"min=2" form:"title"`
	Tags    []int         `binding:"dive,min=1" form:"tag"`
	Avatar  *xbind.File   `binding:"required"   form:"avatar"`
	Extras  []*xbind.File `form:"extra"`
	Ignored string        `json:"-"`
}

func TestBinder_Request_Form(t *testing.T) {
	t.Run("fields, files and parameters", func(t *testing.T) {
		got := bound(t, input{
			path: []string{"id", "5"},
			body: formOf(part{"title", "", "hello"}, part{"tag", "", "1"}, part{"tag", "", "2"},
				part{"ID", "", "evil"}, part{"Tenant", "", "evil"}, part{"X-Tenant", "", "evil"},
				part{"Ignored", "", "evil"}, part{"avatar", "a.png", "a"},
				part{"extra", "b", "b"}, part{"extra", "c", "c"}),
			headers: []string{"Content-Type", multipartForm, "X-Tenant", "acme"},
		}, &avatarForm{Ignored: "kept"})
		if got.ID != 5 || got.Tenant != "acme" || got.Title != "hello" || got.Ignored != "kept" ||
			!cmp.Equal(got.Tags, []int{1, 2}) || got.Avatar == nil || len(got.Extras) != 2 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("failures name the part", func(t *testing.T) {
		e, failed := rejected[avatarForm](t, input{
			body:    formOf(part{"title", "", "x"}, part{"tag", "", "0"}),
			headers: []string{"Content-Type", multipartForm},
		})
		if failed != "title:min tag[0]:min avatar:required" ||
			e.GetErrorCode() != xerror.BodyError {
			t.Errorf("%v with %q", e, failed)
		}
	})
	t.Run("Form marks a form without files", func(t *testing.T) {
		type login struct {
			xbind.Form

			Name string `form:"name"`
			Age  int    `form:"age,default=18"`
		}
		form := []string{"Content-Type", urlencoded}
		got := bound(t, input{body: "name=ada", query: "name=evil", headers: form}, &login{Age: 3})
		if got.Name != "ada" || got.Age != 18 {
			t.Errorf("%+v", got)
		}
		e, failed := rejected[login](t, input{body: "age=x", headers: form})
		if e.GetErrorCode() != xerror.BodyType || failed != "age:type" {
			t.Errorf("%v with %q, want BodyType with age:type", e, failed)
		}
		_, failed = rejected[login](t, input{body: "a=x", headers: form}, xbind.DisallowUnknownFields())
		if failed != "a:unknown" {
			t.Errorf("%q, want a:unknown", failed)
		}
		if e, _ := rejected[login](t, input{headers: form}); e.GetErrorCode() != xerror.BodyEmpty {
			t.Errorf("%v, want BodyEmpty", e)
		}
		e, _ = rejected[login](t, input{body: "{}"})
		if e.GetErrorCode() != xerror.UnsupportedMedia || e.GetErrorCode().Status() !=
			http.StatusUnsupportedMediaType {
			t.Errorf("%v, want UnsupportedMedia", e)
		}
	})
}
