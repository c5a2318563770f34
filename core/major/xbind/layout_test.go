package xbind_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xbind"
)

func TestLayoutOf(t *testing.T) {
	t.Run("parameters in the order of declaration", func(t *testing.T) {
		type inner struct {
			Trace string `header:"x-trace-id"`
		}
		type list struct {
			Words []string `form:"w" json:"words"`
			inner
			ID   int `uri:"id"`
			Body string
		}
		l, err := xbind.LayoutOf(reflect.TypeFor[list]())
		if err != nil || l.Body != xbind.BodyJSON || l.FormFields != nil {
			t.Fatalf("%+v, %v; want a JSON body", l, err)
		}
		type param struct {
			Name  string
			From  xvalid.Source
			Index []int
			Many  bool
		}
		var got []param
		for _, p := range l.Params {
			got = append(got, param{p.Name, p.From, p.Field.Index, p.Many})
		}
		want := []param{
			{"w", xvalid.Query, []int{0}, true},
			{"X-Trace-Id", xvalid.Header, []int{1, 0}, false},
			{"id", xvalid.Path, []int{2}, false},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parameters (-want +got):\n%s", diff)
		}
	})
	t.Run("the body", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			typ  reflect.Type
			want xbind.Body
		}{
			{"empty", reflect.TypeFor[struct{}](), xbind.BodyNone},
			{"parameters", reflect.TypeFor[struct {
				A int `form:"a"`
				B int `json:"-"`
				c int
			}](), xbind.BodyNone},
			{"member", reflect.TypeFor[struct{ A int }](), xbind.BodyJSON},
			{"list", reflect.TypeFor[[]int](), xbind.BodyJSON},
			{"own decoder", reflect.TypeFor[ownDecoder](), xbind.BodyJSON},
			{"form", reflect.TypeFor[struct {
				xbind.Form
				A int `form:"a"`
			}](), xbind.BodyForm},
			{"files", reflect.TypeFor[avatarForm](), xbind.BodyFiles},
			{"upload", reflect.TypeFor[struct {
				Upload *xbind.Upload
				A      int `form:"a"`
			}](), xbind.BodyUpload},
			{"raw", reflect.TypeFor[struct{ *xbind.Raw }](), xbind.BodyRaw},
		} {
			if l, err := xbind.LayoutOf(tc.typ); err != nil || l.Body != tc.want {
				t.Errorf("%s: body %v, %v; want %v", tc.name, l.Body, err, tc.want)
			}
		}
	})
	t.Run("form fields", func(t *testing.T) {
		l, err := xbind.LayoutOf(reflect.TypeFor[avatarForm]())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range l.FormFields {
			kind := p.Name
			if p.File {
				kind += " file"
			}
			if p.Many {
				kind += " many"
			}
			got = append(got, kind)
		}
		want := "avatar file, extra file many, title, tag many"
		if joined := strings.Join(got, ", "); joined != want || len(l.Params) != 2 {
			t.Errorf("%s and %d parameters, want %s and 2", joined, len(l.Params), want)
		}
	})
}

type pointedParams struct {
	Page int `form:"page"`
}

func TestLayoutOf_Contradictions(t *testing.T) {
	for _, tc := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"several sources", reflect.TypeFor[struct {
			ID int `form:"id" uri:"id"`
		}](), "field ID has the tags uri and form: keep one, because a field has one source"},
		{"the same name twice", reflect.TypeFor[struct {
			A int `form:"id"`
			B int `form:"id"`
		}](), `field B has the same name as another field (form:"id"): rename one`},
		{"the same header twice", reflect.TypeFor[struct {
			A int `header:"x-id"`
			B int `header:"X-ID"`
		}](), `field B has the same name as another field (header:"X-Id"): rename one`},
		{"a file with the name of a field", reflect.TypeFor[struct {
			A int         `form:"a"`
			B *xbind.File `form:"a"`
		}](), `field B has the same name as another field (form:"a"): rename one`},
		{"a file in a header", reflect.TypeFor[struct {
			A *xbind.File `header:"a"`
		}](), "field A is a file with the tag header: use the tag form"},
		{"no name", reflect.TypeFor[struct {
			A int `form:",default=1"`
		}](), "field A has the tag form without a name: add the name"},
		{"type of a parameter", reflect.TypeFor[struct {
			A map[string]int `form:"a"`
		}](), "field A has the type map[string]int, which a parameter cannot have: use a basic type, " +
			"a list of one, time.Time, a type with the method UnmarshalParam, or the option " +
			"parser=encoding.TextUnmarshaler"},
		{"type of a form field", reflect.TypeFor[struct {
			xbind.Form
			A bytes.Buffer `form:"a"`
		}](), "field A has the type bytes.Buffer, which a parameter"},
		{
			"an embedded pointer", reflect.TypeFor[struct{ *pointedParams }](),
			"field pointedParams is an embedded pointer to a struct with parameters: embed the struct itself",
		},
		{"a JSON member and a form", reflect.TypeFor[struct {
			xbind.Form
			A int `json:"a"`
		}](), "field A is a member of a JSON body, but the body is a form: add the tag form"},
		{"a JSON member and a file", reflect.TypeFor[struct {
			A int
			B *xbind.File `form:"b"`
		}](), "field A is a member of a JSON body, but the body is a form: add the tag form"},
		{"a JSON member and a raw body", reflect.TypeFor[struct {
			A int
			B *xbind.Raw
		}](), "field A is a member of a JSON body, but another field reads the whole body: " +
			"add the tag uri, form or header"},
		{"two bodies", reflect.TypeFor[struct {
			A *xbind.Upload
			B *xbind.Raw
		}](), "field B is a second body: a request has one"},
		{"a form and a raw body", reflect.TypeFor[struct {
			xbind.Form
			B *xbind.Raw
		}](), "has a form, but also a field that reads the whole body: remove one"},
		{
			"a body that is no pointer", reflect.TypeFor[struct{ B xbind.Raw }](),
			"field B is not a pointer: use *xbind.Raw",
		},
		{"a nested file", reflect.TypeFor[struct {
			A struct{ B []*xbind.File }
		}](), "field A contains a file in the type struct { B []*multipart.FileHeader }: " +
			"use *xapi.File or a list of it as a field of the input itself"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := xbind.LayoutOf(tc.typ)
			if err == nil || !strings.Contains(err.Error(), tc.want) ||
				!strings.HasPrefix(err.Error(), "xbind: "+tc.typ.String()+": ") ||
				strings.Count(err.Error(), "xbind: ") != 1 {
				t.Errorf("error %v, want one for the type with %q", err, tc.want)
			}
		})
	}
	t.Run("all are reported at once", func(t *testing.T) {
		type many struct {
			A int      `form:"a" uri:"a"`
			B chan int `form:"b"`
			C int      `form:"c"`
			D int      `form:"c"`
		}
		_, err := xbind.LayoutOf(reflect.TypeFor[many]())
		if n := len(strings.Split(err.Error(), "\n")); n != 3 {
			t.Errorf("%d errors, want 3:\n%v", n, err)
		}
	})
}
