package xapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xmiddle"
)

type updateUser struct {
	ID   xsnowflake.SnowflakeID `binding:"required" uri:"id"`
	Name string                 `binding:"required,min=3" json:"name"`
}

// users is a handler with a dependency.
type users struct{ prefix string }

func (u users) Update(_ context.Context, in *updateUser) (*account, error) {
	if in.Name == "missing" {
		return nil, xerror.New(xerror.UserNotFound, "")
	}
	return &account{ID: in.ID, Username: u.prefix + in.Name}, nil
}

func (u users) List(context.Context, *struct{}) ([]string, error) {
	return []string{u.prefix}, nil
}

func hello(context.Context, *struct{}) (string, error) { return "hello", nil }

// functionary has a name that contains "func".
func functionary(context.Context, *struct{}) (string, error) { return "", nil }

func echo[T any](_ context.Context, in *T) (*T, error) { return in, nil }

type store[T any] struct{}

func (*store[T]) Find(context.Context, *struct{}) (*T, error) { return new(T), nil }

func TestHandle(t *testing.T) {
	app := serve(t, func(e *gin.Engine) {
		xapi.Put(e, "/users/:id", users{"u-"}.Update, xapi.Status(http.StatusAccepted))
		xapi.Patch(e, "/users/:id", users{"p-"}.Update, xapi.Message("changed"))
		xapi.Delete(e, "/users", users{"d"}.List)
		xapi.Handle(e, http.MethodOptions, "/users", hello)
		xapi.Get(e, "/users", hello, nil)
	})
	body := gin.H{"name": "ada"}
	for _, tc := range []struct {
		method, path string
		body         any
		status       int
		message      string
		data         string
	}{
		{http.MethodPut, "/users/5", body, 202, "Accepted", `{"id":"5","username":"u-ada"}`},
		{http.MethodPatch, "/users/5", body, 200, "changed", `{"id":"5","username":"p-ada"}`},
		{http.MethodDelete, "/users", nil, 200, "OK", `["d"]`},
		{http.MethodOptions, "/users", nil, 200, "OK", `"hello"`},
		{http.MethodGet, "/users", nil, 200, "OK", `"hello"`},
	} {
		t.Run(tc.method, func(t *testing.T) {
			r := app.Request(tc.method, tc.path, tc.body)
			if r.Status() != tc.status || r.Message() != tc.message ||
				!strings.Contains(r.Body(), `"data":`+tc.data+"}") {
				t.Errorf("%d %s, want %d %q with %s", r.Status(), r.Body(), tc.status, tc.message,
					tc.data)
			}
		})
	}
	t.Run("HEAD", func(t *testing.T) {
		r := app.Request(http.MethodHead, "/users", nil)
		if want := "application/json; charset=utf-8"; r.Status() != http.StatusOK ||
			r.Header().Get("Content-Type") != want {
			t.Errorf("%d %v, want 200 and the headers of GET", r.Status(), r.Header())
		}
	})
	t.Run("an invalid request does not reach the handler", func(t *testing.T) {
		r := app.Request(http.MethodPut, "/users/x", gin.H{"name": "missing"})
		if r.Status() != 400 || r.Output() != xerror.ParameterError.GetOutput() {
			t.Errorf("%d %s, want ParameterError", r.Status(), r.Body())
		}
	})
}

func TestHandle_Errors(t *testing.T) {
	panicked := 0
	failing := func(err error) func(context.Context, *struct{}) (*account, error) {
		return func(context.Context, *struct{}) (*account, error) { return &account{}, err }
	}
	app := serve(t, func(e *gin.Engine) {
		xapi.Get(e, "/own", failing(xerror.New(xerror.UserNotFound, "")))
		xapi.Get(e, "/foreign", failing(errors.New("secret")))
		xapi.Get(e, "/deadline", failing(context.DeadlineExceeded))
		xapi.Get(e, "/panic", func(context.Context, *struct{}) (*account, error) {
			panicked++
			panic("secret")
		})
	})
	for path, want := range map[string]*xerror.ErrorCode{
		"/own": xerror.UserNotFound, "/foreign": xerror.ServerInternalError,
		"/deadline": xerror.From(context.DeadlineExceeded).GetErrorCode(),
		"/panic":    xerror.ServerInternalError,
	} {
		r := app.Request(http.MethodGet, path, nil)
		if r.Status() != want.Status() || r.Output() != want.GetOutput() ||
			strings.Contains(r.Body(), "secret") || strings.Contains(r.Body(), `"username"`) {
			t.Errorf("%s: %d %s, want %s", path, r.Status(), r.Body(), want.GetOutput())
		}
	}
	if panicked != 1 {
		t.Errorf("the handler that panics ran %d times, want 1: a probe must not run it", panicked)
	}
}

func TestHandle_JavaProfile(t *testing.T) {
	app := serve(t, func(e *gin.Engine) {
		g := xapi.Group(e, "/java", xapi.Use(xmiddle.UseProfile(xbase.ProfileJava)))
		xapi.Put(g, "/users/:id", users{}.Update)
	})
	r := app.Request(http.MethodPut, "/java/users/5", gin.H{"name": "ada"})
	if r.Status() != 200 || !strings.Contains(r.Body(), `"username":"ada"`) {
		t.Errorf("%d %s", r.Status(), r.Body())
	}
	r = app.Request(http.MethodPut, "/java/users/5", gin.H{"name": "missing"})
	if !strings.Contains(r.Body(), `"errorMessage":null`) {
		t.Errorf("%d %s, want the envelope of the Java profile", r.Status(), r.Body())
	}
}

func TestGroup(t *testing.T) {
	var order []string
	step := func(name string) gin.HandlerFunc {
		return func(*gin.Context) { order = append(order, name) }
	}
	for name, root := range map[string]func(*gin.Engine) gin.IRouter{
		"engine":       func(e *gin.Engine) gin.IRouter { return e },
		"router group": func(e *gin.Engine) gin.IRouter { return e.Group("/") },
		"typed group":  func(e *gin.Engine) gin.IRouter { return xapi.Group(e, "") },
	} {
		t.Run("middleware of a group in a "+name+" runs once and in order", func(t *testing.T) {
			e := gin.New()
			outer := xapi.Group(root(e), "/a", xapi.Use(step("1"), step("2")), nil)
			inner := xapi.Group(outer, "/b", xapi.Use(step("3")))
			inner.Use(step("4"))
			xapi.Get(inner, "/c", hello, xapi.Use(step("5")), xapi.Use(step("6")))
			xapi.Get(inner, "/d", hello)
			for path, want := range map[string]string{"/a/b/c": "123456", "/a/b/d": "1234"} {
				order = nil
				w := httptest.NewRecorder()
				e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
				if got := strings.Join(order, ""); got != want || w.Code != http.StatusOK {
					t.Errorf("%s: %d with the middleware %s, want 200 with %s", path, w.Code, got, want)
				}
			}
		})
	}
	t.Run("options are inherited and do not affect the outer group", func(t *testing.T) {
		e := gin.New()
		a := xapi.Group(e, "/a", xapi.Tag("a"), xapi.Security("s"), xapi.Errors(xerror.Existed),
			xapi.Status(http.StatusCreated), xapi.ID("ignored"), xapi.Summary("ignored"),
			xapi.Description("ignored"))
		b := xapi.Group(a, "/b", xapi.Tag("b"), xapi.Deprecated())
		c := xapi.Group(a, "/c", xapi.Tag("c"), xapi.Hidden(), xapi.Security("t"))
		xapi.Get(a, "", hello, xapi.Tag("route"), xapi.Errors(xerror.NotExist))
		xapi.Get(b, "", hello, xapi.Status(http.StatusAccepted))
		xapi.Get(c, "", hello)
		list, err := xapi.Operations(e)
		if err != nil {
			t.Fatal(err)
		}
		type options struct {
			Tags, Security     string
			Errors, Status     int
			Deprecated, Hidden bool
		}
		got := map[string]options{}
		for _, op := range list {
			got[op.Path] = options{
				strings.Join(op.Tags, " "), strings.Join(op.Security, " "), len(op.Errors), op.Status,
				op.Deprecated, op.Hidden,
			}
			if op.ID != "hello" || op.Summary != "" || op.Description != "" {
				t.Errorf("ID %q, summary %q, description %q; want hello and two empty",
					op.ID, op.Summary, op.Description)
			}
		}
		want := map[string]options{
			"/a": {"a route", "s", 2, 201, false, false}, "/a/b": {"a b", "s", 1, 202, true, false},
			"/a/c": {"a c", "s t", 1, 201, false, true},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("options (-want +got):\n%s", diff)
		}
	})
	t.Run("routes of a group do not share lists", func(t *testing.T) {
		e := gin.New()
		g := xapi.Group(e, "/", xapi.Tag("1"), xapi.Tag("2"), xapi.Tag("3")) // spare capacity
		xapi.Get(g, "/a", hello, xapi.Tag("a"))
		xapi.Get(g, "/b", hello, xapi.Tag("b"))
		list, err := xapi.Operations(e)
		if err != nil || len(list) != 2 {
			t.Fatalf("%d operations, %v; want 2", len(list), err)
		}
		for _, op := range list {
			if got, want := strings.Join(op.Tags, ""), "123"+op.Path[1:]; got != want {
				t.Errorf("tags %s of %s, want %s", got, op.Path, want)
			}
		}
	})
	t.Run("Bind changes the strictness", func(t *testing.T) {
		app := serve(t, func(e *gin.Engine) {
			g := xapi.Group(e, "/strict", xapi.Bind(xbind.DisallowUnknownFields()))
			xapi.Put(g, "/a/:id", users{}.Update)
			xapi.Put(g, "/b/:id", users{}.Update, xapi.Bind(xbind.AllowUnknownFields()))
		})
		for path, want := range map[string]int{"/strict/a/1": 400, "/strict/b/1": 200} {
			r := app.Request(http.MethodPut, path, gin.H{"name": "ada", "id": 3})
			if r.Status() != want {
				t.Errorf("%s: %d %s, want %d", path, r.Status(), r.Body(), want)
			}
		}
	})
	t.Run("middleware can abort", func(t *testing.T) {
		app := serve(t, func(e *gin.Engine) {
			xapi.Get(e, "/", hello, xapi.Use(func(c *gin.Context) {
				_ = c.Error(xerror.New(xerror.Unauthorized, ""))
				c.Abort()
			}))
		})
		r := app.Request(http.MethodGet, "/", nil)
		if r.Status() != xerror.Unauthorized.Status() || strings.Contains(r.Body(), "hello") {
			t.Errorf("%d %s, want Unauthorized", r.Status(), r.Body())
		}
	})
}

func TestDescribe(t *testing.T) {
	handler := func(c *gin.Context) { c.String(http.StatusTeapot, c.Param("id")) }
	e := gin.New()
	e.PUT("/users/:id", xapi.Describe[updateUser, *account](handler, xapi.Tag("users"), nil,
		xapi.ID("update"), xapi.Summary("s"), xapi.Description("d")))
	list, err := xapi.Operations(e)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d operations, %v; want 1", len(list), err)
	}
	op := list[0]
	if op.ID != "update" || op.Path != "/users/:id" || op.Method != http.MethodPut ||
		op.In != reflect.TypeFor[updateUser]() || op.Data != reflect.TypeFor[*account]() ||
		!slices.Equal(op.Tags, []string{"users"}) || op.Summary != "s" || op.Description != "d" ||
		!strings.HasPrefix(op.Position, "xapi/xapi_test.go:") {
		t.Errorf("%+v", op)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/users/5", nil))
	if w.Code != http.StatusTeapot || w.Body.String() != "5" {
		t.Errorf("%d %s, want the response of the handler", w.Code, w.Body)
	}
	t.Run("does not accept options of typed handlers", func(t *testing.T) {
		e := gin.New()
		e.GET("/", xapi.Describe[struct{}, string](handler, xapi.Use(handler)))
		_, err := xapi.Operations(e)
		if err == nil || !strings.Contains(err.Error(), "Use and Bind apply to typed handlers only") {
			t.Errorf("error %v", err)
		}
	})
}

func TestHandle_Concurrency(t *testing.T) {
	app := serve(t, func(e *gin.Engine) { xapi.Put(e, "/users/:id", users{}.Update) })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r := app.Request(http.MethodPut, "/users/5", gin.H{"name": "ada"})
			if r.Status() != http.StatusOK {
				t.Errorf("%d %s, want 200", r.Status(), r.Body())
			}
		})
	}
	wg.Wait()
}
