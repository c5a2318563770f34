package openapix_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/openapix"
)

// start starts an application without a Runner. It does not run the start hooks.
func start(t *testing.T, opts ...xoption.Option) *xreg.Reg {
	t.Helper()
	reg, err := xreg.New(t.Context(), nil, append(opts, xoption.WithoutEnvFile())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return reg
}

// get sends a request to an engine.
func get(engine http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

// send sends a request with a JSON body.
func send(engine http.Handler, method, path, body, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

func TestServe(t *testing.T) {
	app := plinthtest.New(t, xoption.WithRoute(routes), openapix.Serve(options()...))
	want, err := openapix.Document(app.Engine(), options()...)
	if err != nil {
		t.Fatal(err)
	}
	first := get(app.Engine(), http.MethodGet, "/openapi.json")
	tag := first.Header().Get("ETag")

	t.Run("GET returns the document", func(t *testing.T) {
		if first.Code != http.StatusOK || first.Body.String() != string(want) {
			t.Errorf("status %d with %d bytes, want 200 with the %d bytes of Document",
				first.Code, first.Body.Len(), len(want))
		}
		if got := first.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type = %q, want application/json", got)
		}
		if len(tag) < 10 || tag[0] != '"' {
			t.Errorf("ETag = %q, want a strong entity tag", tag)
		}
	})
	t.Run("a matching If-None-Match returns 304", func(t *testing.T) {
		w := get(app.Engine(), http.MethodGet, "/openapi.json", "If-None-Match", tag)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("status %d with %d bytes, want 304 without a body", w.Code, w.Body.Len())
		}
		w = get(app.Engine(), http.MethodGet, "/openapi.json", "If-None-Match", `"other"`)
		if w.Code != http.StatusOK {
			t.Errorf("status %d for another entity tag, want 200", w.Code)
		}
	})
	t.Run("HEAD returns the headers", func(t *testing.T) {
		w := get(app.Engine(), http.MethodHead, "/openapi.json")
		if w.Code != http.StatusOK || w.Header().Get("ETag") != tag || w.Body.Len() != 0 {
			t.Errorf("status %d, ETag %q, %d bytes; want 200, %q and no body",
				w.Code, w.Header().Get("ETag"), w.Body.Len(), tag)
		}
	})
}

func TestServe_Routes(t *testing.T) {
	late := xoption.WithRoute(func(_ context.Context, e *gin.Engine) { xapi.Get(e, "/late", signedIn) })
	for _, tc := range []struct {
		name  string
		hooks bool // run the start hooks
	}{
		{name: "contains routes of later options", hooks: true},
		{name: "works without start hooks", hooks: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg := start(t, openapix.Serve(openapix.WithPath("/docs/api.json")),
				xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
					xapi.Get(e, "/early", getAvatar)
				}))
			if err := reg.Apply(late); err != nil {
				t.Fatal(err)
			}
			if tc.hooks {
				if err := reg.Lifecycle().Start(reg.Init.Ctx); err != nil {
					t.Fatal(err)
				}
			}
			text := get(reg.Serve, http.MethodGet, "/docs/api.json").Body.String()
			for _, path := range []string{`"/early": {`, `"/late": {`} {
				if !strings.Contains(text, path) {
					t.Errorf("the document does not contain %s", path)
				}
			}
		})
	}
}

type invalidExample struct {
	Age   int    `form:"age" binding:"max=150" example:"200"`
	Day   string `form:"day" example:"2026-01-31"`
	Email string `form:"email" binding:"email" example:"ada"`
	Limit int    `form:"limit,default=many"`
}

func invalidInput(context.Context, *invalidExample) (string, error) { return "", nil }

func invalidOutput(context.Context, *struct{}) (chan int, error) { return nil, nil }

type withChannel struct{ C chan bool }

func invalidField(context.Context, *struct{}) (withChannel, error) { return withChannel{}, nil }

func invalidRoutes(_ context.Context, e *gin.Engine) {
	xapi.Get(e, "/a", getAvatar)
	xapi.Get(e, "/b", getAvatar)
	xapi.Get(e, "/c", signedIn, xapi.Security("bearer"))
	xapi.Get(e, "/d", invalidInput)
	xapi.Get(e, "/e", invalidOutput)
	xapi.Get(e, "/f", invalidField)
	xapi.Get(e, "/users/:id", getUser)
	xapi.Handle(e, "PROPFIND", "/dav", getAvatar, xapi.ID("dav"))
	xapi.Delete(e, "/users/:name", signedIn, xapi.ID("deleteByName"))
}

func signedIn(context.Context, *struct{}) (xapi.Empty, error) { return xapi.Empty{}, nil }

func TestServe_Problems(t *testing.T) {
	reg := start(t, xoption.WithRoute(invalidRoutes), openapix.Serve())
	err := reg.Lifecycle().Start(reg.Init.Ctx)
	if err == nil {
		t.Fatal("the start succeeded")
	}
	const prefix = `start hook "openapix": openapix: `
	const types = "github.com/plinthgo/plinth/openapix_test.invalidExample: "
	want := []string{
		"GET /b (openapix/fixture_test.go:*) has the operation ID getAvatar of GET /a: " +
			"add the option xapi.ID to one of them",
		"DELETE /users/:name (openapix/serve_test.go:*): the path differs from /users/:id only in " +
			"the names of parameters: use the same names",
		`GET /c (openapix/serve_test.go:*): the security scheme "bearer" is not defined: ` +
			"add the option WithSecurityScheme",
		"PROPFIND /dav (openapix/fixture_test.go:*): OpenAPI has no operation for the method: " +
			"add the option xapi.Hidden",
		types + `field Age: example "200": age must be 150 or less`,
		types + `field Email: example "ada": email must be a valid email address`,
		types + `field Limit: default "many": limit must be an integer`,
		"the type chan int cannot be JSON",
		"field C of github.com/plinthgo/plinth/openapix_test.withChannel: " +
			`the type chan bool cannot be JSON: exclude the field with the tag json:"-"`,
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			t.Errorf("line %q does not start with %q", line, prefix)
		}
		lines[i] = withoutLine(rest)
	}
	if got, want := strings.Join(lines, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	t.Run("a request without a start hook is a DeveloperError", func(t *testing.T) {
		w := get(reg.Serve, http.MethodGet, "/openapi.json")
		if w.Code != http.StatusInternalServerError ||
			!strings.Contains(w.Body.String(), xerror.DeveloperError.GetOutput()) {
			t.Errorf("status %d, body %s; want 500 with DEVELOPER_ERROR", w.Code, w.Body)
		}
	})
}

// withoutLine replaces the line number of a position with an asterisk.
func withoutLine(s string) string {
	before, after, found := strings.Cut(s, ".go:")
	if !found {
		return s
	}
	return before + ".go:*" + strings.TrimLeft(after, "0123456789")
}

func TestDocument_Options(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  openapix.Option
		want string
	}{
		{"path with a parameter", openapix.WithPath("/:file"), `WithPath: "/:file"`},
		{"empty scheme", openapix.WithSecurityScheme("x", openapix.SecurityScheme{}), `scheme "x" is empty`},
		{"descriptions that are not JSON", openapix.WithDescriptions([]byte("x")), "WithDescriptions: "},
		{
			"descriptions of Swagger", openapix.WithDescriptions([]byte(`{"swagger":"2.0"}`)),
			"is not that of an OpenAPI 3 document",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := openapix.Document(gin.New(), nil, tc.opt)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
