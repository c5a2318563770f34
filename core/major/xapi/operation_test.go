package xapi_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

type library struct{}

func (*library) Books(context.Context, *struct{}) ([]string, error) { return nil, nil }

// APIKeys and ID are handlers whose names have abbreviations.
func APIKeys(context.Context, *struct{}) ([]string, error) { return nil, nil }

func ID(context.Context, *struct{}) (string, error) { return "", nil }

// lister is an interface with a method that is a handler.
type lister interface {
	List(ctx context.Context, in *struct{}) ([]string, error)
}

func TestOperation_Names(t *testing.T) {
	const pkg = "github.com/plinthgo/plinth/core/major/xapi_test."
	var l lister = users{}
	for _, tc := range []struct {
		name         string
		routes       func(*gin.Engine)
		function, id string
	}{
		{"function", func(e *gin.Engine) { xapi.Get(e, "/x", hello) }, pkg + "hello", "hello"},
		{
			"function with func in its name", func(e *gin.Engine) { xapi.Get(e, "/x", functionary) },
			pkg + "functionary", "functionary",
		},
		{
			"function with an abbreviation",
			func(e *gin.Engine) { xapi.Get(e, "/x", APIKeys) }, pkg + "APIKeys", "apiKeys",
		},
		{"abbreviation", func(e *gin.Engine) { xapi.Get(e, "/x", ID) }, pkg + "ID", "id"},
		{
			"method value", func(e *gin.Engine) { xapi.Put(e, "/x/:id", users{}.Update) },
			pkg + "users.Update", "updateUsers",
		},
		{
			"method value of a pointer", func(e *gin.Engine) { xapi.Get(e, "/x", (&library{}).Books) },
			pkg + "(*library).Books", "booksLibrary",
		},
		{
			"method of an interface", func(e *gin.Engine) { xapi.Get(e, "/x", l.List) },
			pkg + "lister.List", "listLister",
		},
		{
			"method of a generic type", func(e *gin.Engine) { xapi.Get(e, "/x", new(store[int]).Find) },
			pkg + "(*store).Find", "findStore",
		},
		{"function literal", func(e *gin.Engine) {
			xapi.Get(e, "/users/:user_id/files/*path",
				func(context.Context, *struct{}) (int, error) { return 0, nil })
		}, "", "getUsersByUser_idFilesByPath"},
		{"ID", func(e *gin.Engine) { xapi.Get(e, "/x", hello, xapi.ID("own")) }, pkg + "hello", "own"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			op := operation(t, tc.routes)
			if op.Function != tc.function || op.ID != tc.id {
				t.Errorf("function %q with ID %q, want %q with %q", op.Function, op.ID, tc.function, tc.id)
			}
			file, line, _ := strings.Cut(op.Position, ":")
			if !strings.HasPrefix(file, "xapi/") || !strings.HasSuffix(file, "_test.go") || line == "" {
				t.Errorf("position %q, want a line of a test of this package", op.Position)
			}
		})
	}
	t.Run("a generic function has a name that is stable", func(t *testing.T) {
		type in struct {
			A int `form:"a"`
		}
		op := operation(t, func(e *gin.Engine) { xapi.Get(e, "/x", echo[in]) })
		if op.Function != pkg+"echo" || op.ID != "echo" {
			t.Errorf("function %q with ID %q, want %q with echo", op.Function, op.ID, pkg+"echo")
		}
	})
	t.Run("positions", func(t *testing.T) {
		_, _, line, _ := runtime.Caller(0)
		op := operation(t, func(e *gin.Engine) { xapi.Get(e, "/x", (&library{}).Books) })
		if want := fmt.Sprint("xapi/operation_test.go:", line+1); op.Position != want {
			t.Errorf("position %q of a method value, want that of the route, %s", op.Position, want)
		}
		op = operation(t, func(e *gin.Engine) { xapi.Get(e, "/x", hello) })
		if !strings.HasPrefix(op.Position, "xapi/xapi_test.go:") {
			t.Errorf("position %q of a function, want that of its declaration", op.Position)
		}
	})
}

func TestOperations(t *testing.T) {
	e := gin.New()
	e.GET("/plain", func(*gin.Context) { t.Error("a probe called a handler") })
	e.GET("/other", gin.WrapF(func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	xapi.Get(e, "/stream", func(context.Context, *struct{}) (iter.Seq2[*account, error], error) {
		return nil, nil
	}, xapi.Status(http.StatusCreated))
	xapi.Get(e, "/download", func(context.Context, *struct{}) (*xapi.Download, error) {
		return nil, nil
	}, xapi.Status(http.StatusCreated))
	xapi.Post(e, "/empty", func(context.Context, *createUser) (xapi.Empty, error) {
		return xapi.Empty{}, nil
	})
	xapi.Get(e, "/value", hello, xapi.Status(http.StatusCreated), xapi.Use(func(*gin.Context) {
		t.Error("a probe called middleware")
	}))
	list, err := xapi.Operations(e)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		Method   string
		Response xapi.Response
		Status   int
		Message  string
		Data     reflect.Type
		Body     xbind.Body
	}
	got := map[string]result{}
	for _, op := range list {
		got[op.Path] = result{op.Method, op.Response, op.Status, op.Message, op.Data, op.Layout.Body}
	}
	want := map[string]result{
		"/stream":   {"GET", xapi.ResponseStream, 200, "OK", reflect.TypeFor[*account](), xbind.BodyNone},
		"/download": {"GET", xapi.ResponseDownload, 200, "OK", nil, xbind.BodyNone},
		"/empty":    {"POST", xapi.ResponseEmpty, 204, "No Content", nil, xbind.BodyJSON},
		"/value":    {"GET", xapi.ResponseEnvelope, 201, "Created", reflect.TypeFor[string](), xbind.BodyNone},
	}
	types := cmp.Comparer(func(a, b reflect.Type) bool { return a == b })
	if diff := cmp.Diff(want, got, types); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

type (
	noSuchParam struct {
		ID int `uri:"user"`
	}
	bodyOnGet struct {
		Name string `json:"name"`
	}
	formOnGet struct {
		xapi.Form

		Name string `form:"name"`
	}
	unknownRule struct {
		A int `binding:"no_such_rule" form:"a"`
		B int `form:"b"               uri:"id"`
	}
	headerInData struct {
		Location string `header:"Location"`
	}
)

func discarded[In, Out any](context.Context, *In) (out Out, err error) { return out, nil }

func contradictions(e *gin.Engine) {
	xapi.Get(e, "/users/:id", discarded[noSuchParam, int])
	xapi.Get(e, "/body", discarded[bodyOnGet, int])
	xapi.Get(e, "/form", discarded[formOnGet, int])
	xapi.Post(e, "/rules/:id", discarded[unknownRule, int])
	xapi.Get(e, "/status", hello, xapi.Status(http.StatusNotFound))
	xapi.Get(e, "/content", hello, xapi.Status(http.StatusNoContent))
	xapi.Get(e, "/header", discarded[struct{}, headerInData])
	xapi.Get(e, "/valid", hello)
}

var wantContradictions = []string{
	`GET /users/:id (`, `field ID of xapi_test.noSuchParam has the tag uri:"user", ` +
		"but the path has no parameter :user",
	"GET /body (", "the input xapi_test.bodyOnGet has a JSON body, which a GET request cannot have: " +
		`add the tag form to query parameters, and json:"-" to other fields`,
	"GET /form (", "the input xapi_test.formOnGet reads the body, which a GET request cannot have",
	"POST /rules/:id (", "field B has the tags uri and form",
	"POST /rules/:id (", "xapi_test.unknownRule: Undefined validation function 'no_such_rule'",
	"GET /status (", "the status 404 is not a success (accepted: 200 to 299)",
	"GET /content (", "the status 204 has no body: return xapi.Empty",
	"GET /header (", "field Location of xapi_test.headerInData is a response header: " +
		`add the tag json:"-"`,
}

// wantLines checks that err has one line for each contradiction.
func wantLines(t *testing.T, err error) {
	t.Helper()
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != len(wantContradictions)/2 {
		t.Errorf("%d lines, want %d:\n%v", len(lines), len(wantContradictions)/2, err)
	}
	for i := 0; i < len(wantContradictions); i += 2 {
		n := 0
		for _, line := range lines {
			if strings.Contains(line, wantContradictions[i]) &&
				strings.Contains(line, wantContradictions[i+1]) &&
				strings.Contains(line, "_test.go:") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d lines with %q and %q, want 1, in\n%v", n, wantContradictions[i],
				wantContradictions[i+1], err)
		}
	}
}

func TestOperations_Contradictions(t *testing.T) {
	t.Run("Operations returns the error", func(t *testing.T) {
		e := gin.New()
		contradictions(e)
		list, err := xapi.Operations(e)
		if len(list) != 8 {
			t.Errorf("%d operations, want 8", len(list))
		}
		wantLines(t, err)
	})
	t.Run("an application does not start", func(t *testing.T) {
		log, err := xlog.New(xlog.Config{Writer: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(), xoption.WithLogger(log),
			xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
			xoption.WithRoute(func(_ context.Context, e *gin.Engine) { contradictions(e) }))
		if reg != nil {
			t.Errorf("New returned an application")
		}
		wantLines(t, err)
		if strings.Contains(fmt.Sprint(err), "goroutine") || strings.Contains(fmt.Sprint(err), "panic") {
			t.Errorf("the error contains a stack or a panic:\n%v", err)
		}
	})
	t.Run("a plain engine responds with a DeveloperError", func(t *testing.T) {
		e := newEngine(t)
		contradictions(e)
		for path, method := range map[string]string{
			"/status": http.MethodGet, "/content": http.MethodGet, "/header": http.MethodGet,
			"/rules/5": http.MethodPost,
		} {
			w := httptest.NewRecorder()
			e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			if want := xerror.DeveloperError; w.Code != want.Status() ||
				!strings.Contains(w.Body.String(), want.GetOutput()) {
				t.Errorf("%s: %d %s, want %v", path, w.Code, w.Body, want)
			}
		}
	})
}

func TestPathParams(t *testing.T) {
	for path, want := range map[string]string{
		"/": "", "/users/:id": "id", "/users/:id/files/*path": "id path", "/v:version/x": "version",
	} {
		if got := strings.Join(xapi.PathParams(path), " "); got != want {
			t.Errorf("PathParams(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	type inner struct {
		Count int64 `json:"count,string"`
	}
	type outer struct {
		inner
		Name   string `json:"name,omitempty"`
		Zero   int    `json:",omitzero"`
		Hidden int    `json:"-"`
	}
	var got []string
	for _, f := range xapi.Fields(reflect.TypeFor[outer]()) {
		got = append(got, fmt.Sprint(f.Name, f.Field.Index, f.Quoted, f.Optional))
	}
	want := "count[0 0] true false|name[1] false true|Zero[2] false true"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("fields %s, want %s", joined, want)
	}
}
