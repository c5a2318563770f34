package xbind_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

type updateAccount struct {
	ID      xsnowflake.SnowflakeID `binding:"required" uri:"id"`
	Page    int                    `binding:"max=10"   form:"page,default=3"`
	Tenant  string                 `binding:"required" header:"x-tenant"`
	Name    string                 `binding:"required,min=3" json:"name"`
	Address struct {
		City string `binding:"max=5" json:"city"`
	} `json:"address"`
	Secret string `json:"-"`
}

// input is the request of a test. The path is a list of names and values.
type input struct {
	path    []string
	query   string
	body    string
	headers []string
}

func (i input) context() *gin.Context {
	c := request(i.body, i.headers...)
	c.Request.URL.RawQuery = i.query
	c.Params = withPath(i.path...).Params
	return c
}

// bound binds a request that must be valid.
func bound[T any](t *testing.T, i input, dst *T) T {
	t.Helper()
	c := i.context()
	got := xbind.Bind(c, dst).Request()
	if got == nil {
		t.Fatalf("rejected: %v", c.Errors)
	}
	return *got
}

// rejected binds a request that must be invalid, and returns the error and its failures.
func rejected[T any](t *testing.T, i input, opts ...xbind.Option) (e *xerror.Error, failed string) {
	t.Helper()
	c := i.context()
	if got := xbind.Bind[T](c, nil, opts...).Request(); got != nil {
		t.Fatalf("accepted %+v", *got)
	}
	e = reported(t, c)
	return e, failedFields(e)
}

func TestBinder_Request(t *testing.T) {
	valid := input{
		path: []string{"id", "5"}, query: "page=4", headers: []string{"X-Tenant", "acme"},
		body: `{"name":"ada","address":{"city":"Paris"},"Secret":"x"}`,
	}
	t.Run("fills one struct from all parts", func(t *testing.T) {
		want := updateAccount{ID: 5, Page: 4, Tenant: "acme", Name: "ada"}
		want.Address.City = "Paris"
		if diff := cmp.Diff(want, bound[updateAccount](t, valid, nil)); diff != "" {
			t.Errorf("Request (-want +got):\n%s", diff)
		}
	})
	t.Run("a missing parameter has the default of its tag", func(t *testing.T) {
		i := valid
		i.query = ""
		if got := bound(t, i, &updateAccount{Page: 7}); got.Page != 3 {
			t.Errorf("page %d, want 3", got.Page)
		}
	})
	t.Run("dst contains defaults", func(t *testing.T) {
		dst := &updateAccount{Secret: "kept", Name: "unused"}
		got := bound(t, valid, dst)
		if got.Secret != "kept" || got.Name != "ada" || dst.Name != "ada" {
			t.Errorf("%+v and dst %+v", got, *dst)
		}
	})
	t.Run("no part is needed for an empty struct", func(t *testing.T) {
		bound[struct{}](t, input{body: "no JSON"}, nil)
	})
	t.Run("the body can be a list or a map", func(t *testing.T) {
		if got := bound[[]int](t, input{body: "[1,2]"}, nil); !cmp.Equal(got, []int{1, 2}) {
			t.Errorf("list %v", got)
		}
		got := bound[map[string]int](t, input{body: `{"a":1}`}, nil)
		if got["a"] != 1 {
			t.Errorf("map %v", got)
		}
		type item struct {
			N int `binding:"min=1" json:"n"`
		}
		if e, failed := rejected[[]item](t, input{body: `[{"n":1},{}]`}); failed != "[1].n:min" {
			t.Errorf("%v with %q, want [1].n:min", e, failed)
		}
	})
	t.Run("a type can decode its own body", func(t *testing.T) {
		if got := bound[ownDecoder](t, input{body: `"text"`}, nil); got.value != "text" {
			t.Errorf("%+v", got)
		}
	})
}

type ownDecoder struct{ value string }

func (d *ownDecoder) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &d.value) }

// mark is a type that converts parameters itself.
type mark struct{ text string }

func (m *mark) UnmarshalParam(text string) error {
	if text == "bad" {
		return context.Canceled
	}
	m.text = "<" + text + ">"
	return nil
}

type cursor[T any] struct {
	After *T `form:"after"`
	Limit T  `form:"limit,default=9"`
}

func TestBinder_Request_Types(t *testing.T) {
	type types struct {
		Flag    bool                     `form:"flag"`
		Small   int8                     `form:"small"`
		Big     uint64                   `form:"big"`
		Ratio   float32                  `form:"ratio"`
		Number  *int                     `form:"number"`
		Text    **string                 `form:"text"`
		Words   []string                 `form:"words"`
		CSV     []int                    `collection_format:"csv" form:"csv"`
		Pair    [2]int                   `form:"pair"`
		Day     time.Time                `form:"day" time_format:"2006-01-02" time_utc:"1"`
		Times   []time.Time              `form:"times" time_format:"unix" time_utc:"1"`
		Wait    time.Duration            `form:"wait"`
		Mark    mark                     `form:"mark"`
		Marks   []mark                   `form:"marks"`
		Marked  *mark                    `form:"marked"`
		Address netip.Addr               `form:"address,parser=encoding.TextUnmarshaler"`
		Trace   []string                 `header:"x-trace"`
		Level   json.Number              `form:"level"`
		IDs     []xsnowflake.SnowflakeID `form:"ids"`
		cursor[int]
	}
	text := "t"
	ptr := &text
	one, two := 1, 2
	want := types{
		Flag: true, Small: -8, Big: 1 << 63, Ratio: 0.5, Number: &one, Text: &ptr,
		Words: []string{"a", "b"}, CSV: []int{1, 2}, Pair: [2]int{3, 4},
		Day:   time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		Times: []time.Time{time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()}, Wait: time.Minute,
		Mark: mark{"<m>"}, Marks: []mark{{"<a>"}, {"<b>"}}, Marked: &mark{"<c>"},
		Address: netip.MustParseAddr("::1"), Trace: []string{"x", "y"}, Level: "7",
		cursor: cursor[int]{After: &two, Limit: 9},
	}
	i := input{query: "flag=true&small=-8&big=9223372036854775808&ratio=0.5&number=1&text=t" +
		"&words=a&words=b&csv=1,2&pair=3&pair=4&day=2024-02-29&times=1&times=2&wait=1m&mark=m" +
		"&marks=a&marks=b&marked=c&address=::1&level=7&after=2"}
	c := i.context()
	c.Request.Header["X-Trace"] = []string{"x", "y"}
	got := xbind.Bind[types](c, nil).Request()
	if got == nil {
		t.Fatalf("rejected: %v", c.Errors)
	}
	opts := cmp.Options{
		cmp.AllowUnexported(types{}, mark{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(&want, got, opts); diff != "" {
		t.Errorf("Request (-want +got):\n%s", diff)
	}
}

func TestBinder_Request_Embedded(t *testing.T) {
	t.Run("parameters of an embedded struct", func(t *testing.T) {
		type list struct {
			xmodels.StrictPageRequest
			Owner string `form:"owner"`
		}
		got := bound[list](t, input{query: "page=2&owner=ada"}, nil)
		want := list{xmodels.StrictPageRequest{Page: 2, Size: 20, Sort: "asc"}, "ada"}
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		e, failed := rejected[list](t, input{query: "page=0&size=500"})
		if failed != "page:min size:max" || e.GetErrorCode() != xerror.ParameterError {
			t.Errorf("%v with %q", e, failed)
		}
	})
	t.Run("body members of an embedded pointer", func(t *testing.T) {
		type create struct {
			*Body
			ID int `uri:"id"`
		}
		got := bound[create](t, input{path: []string{"id", "3"}, body: `{"title":"x"}`}, nil)
		if got.Body == nil || got.Title != "x" || got.ID != 3 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("types that embed each other", func(t *testing.T) {
		if l, err := xbind.LayoutOf(reflect.TypeFor[Left]()); err != nil || l.Body != xbind.BodyJSON {
			t.Errorf("%+v, %v", l, err)
		}
	})
	t.Run("an embedded struct with the tag json:\"-\" has parameters only", func(t *testing.T) {
		type list struct {
			Mixed `json:"-"`
		}
		l, err := xbind.LayoutOf(reflect.TypeFor[list]())
		if err != nil || l.Body != xbind.BodyNone || len(l.Params) != 1 {
			t.Errorf("%+v, %v; want one parameter and no body", l, err)
		}
	})
}

type (
	Body struct {
		Title string `json:"title"`
	}
	Left struct {
		*Right
		A int
	}
	Right struct {
		*Left
		B int
	}
	Mixed struct {
		Param  int `form:"param"`
		Member int
	}
)

func TestBinder_Request_Separation(t *testing.T) {
	three := 3
	type update struct {
		ID     int    `uri:"id"`
		Limit  *int   `form:"limit"`
		Tags   []int  `form:"tags"`
		Tenant string `header:"X-Tenant"`
		Name   string `json:"name"`
	}
	for name, body := range map[string]string{
		"exact":       `{"name":"n","ID":9,"Limit":9,"Tags":[9],"Tenant":"evil"}`,
		"other case":  `{"name":"n","id":9,"limit":9,"tags":[9],"tenant":"evil"}`,
		"escaped":     `{"name":"n","\u0049D":9,"Limi\u0074":9,"Tags":[9],"Tenant":"evil"}`,
		"wrong types": `{"name":"n","ID":"a","Limit":{"x":1},"Tags":"b","Tenant":5}`,
		"both cases":  `{"ID":9,"id":9,"name":"n"}`,
	} {
		t.Run("a body member does not fill a parameter: "+name, func(t *testing.T) {
			if got := bound[update](t, input{body: body}, nil); !reflect.DeepEqual(got, update{Name: "n"}) {
				t.Errorf("%+v, want only the name", got)
			}
			dst := &update{ID: 1, Limit: &three, Tags: []int{3}, Tenant: "acme"}
			got := bound(t, input{body: body}, dst)
			want := update{ID: 1, Limit: &three, Tags: []int{3}, Tenant: "acme", Name: "n"}
			if diff := cmp.Diff(want, got); diff != "" || three != 3 {
				t.Errorf("with defaults (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a member with the name of a parameter is unknown", func(t *testing.T) {
		for _, body := range []string{`{"ID":9}`, `{"id":9}`, `{"other":9}`} {
			e, failed := rejected[update](t, input{body: body}, xbind.DisallowUnknownFields())
			if e.GetErrorCode() != xerror.BodyError || !strings.HasSuffix(failed, ":unknown") {
				t.Errorf("%s: %v with %q, want an unknown field", body, e, failed)
			}
		}
	})
	t.Run("a nested object can have a member with that name", func(t *testing.T) {
		type node struct {
			ID       int    `uri:"id"`
			Name     string `json:"name"`
			Children []struct{ ID int }
		}
		got := bound[node](t, input{body: `{"ID":1,"Children":[{"ID":2}]}`}, nil)
		if got.ID != 0 || len(got.Children) != 1 || got.Children[0].ID != 2 {
			t.Errorf("%+v, want 2 in the child only", got)
		}
	})
	t.Run("Use sets the strictness", func(t *testing.T) {
		c := input{body: `{"other":9}`}.context()
		xbind.Use(xbind.Strictness{DisallowUnknownFields: true})(c)
		if got := xbind.Bind[update](c, nil).Request(); got != nil {
			t.Errorf("accepted %+v", got)
		}
		if failed := failedFields(reported(t, c)); failed != "other:unknown" {
			t.Errorf("%q, want other:unknown", failed)
		}
	})
}
