package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix"
)

func get(engine http.Handler, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

type operation struct {
	ID       string                `json:"operationId"`
	Summary  string                `json:"summary"`
	Security []map[string][]string `json:"security"`
}

func TestOptions(t *testing.T) {
	app := plinthtest.New(t, options()...)
	w := get(app.Engine(), "/openapi.json", "")
	var d struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("the response is %d %s: %v", w.Code, w.Body, err)
	}
	post := d.Paths["/articles"]["post"]
	if len(d.Paths) != 4 || d.Paths["/debug/stock"] != nil {
		t.Errorf("the document has %d paths, want 4 without /debug/stock", len(d.Paths))
	}
	if post.ID != "createArticle" || post.Summary != "Adds an article" {
		t.Errorf("POST /articles is %+v, want the summary of the doc comment", post)
	}
	if len(post.Security) != 1 || post.Security[0]["staff"] == nil {
		t.Errorf("POST /articles has the security %v, want staff", post.Security)
	}
	if got := d.Paths["/latest"]["get"].ID; got != "getLatest" {
		t.Errorf("the gin handler has the ID %q, want getLatest", got)
	}
	if w := get(app.Engine(), "/reference", ""); !strings.Contains(w.Body.String(), "createArticle") {
		t.Errorf("GET /reference = %d without createArticle", w.Code)
	}
}

func restricted() []xoption.Option {
	return []xoption.Option{
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.Use(func(c *gin.Context) {
				if strings.HasPrefix(c.FullPath(), "/internal/") {
					requireStaff(c)
				}
			})
		}),
		openapix.Serve(
			openapix.WithPath("/internal/openapi.json"),
			openapix.WithReference("/internal/reference"),
			openapix.WithSecurityScheme("staff", openapix.Bearer("JWT")),
		),
		xoption.WithRoute(routes),
	}
}

func TestRestricted(t *testing.T) {
	app := plinthtest.New(t, restricted()...)
	for _, tc := range []struct {
		path, authorization string
		want                int
	}{
		{path: "/internal/openapi.json", want: http.StatusUnauthorized},
		{path: "/internal/reference", want: http.StatusUnauthorized},
		{path: "/internal/openapi.json", authorization: "Bearer x", want: http.StatusOK},
		{path: "/internal/reference", authorization: "Bearer x", want: http.StatusOK},
		{path: "/articles/1", want: http.StatusOK},
		{path: "/unknown", want: http.StatusNotFound},
	} {
		t.Run(tc.path+" with "+tc.authorization, func(t *testing.T) {
			if w := get(app.Engine(), tc.path, tc.authorization); w.Code != tc.want {
				t.Errorf("GET %s = %d, want %d", tc.path, w.Code, tc.want)
			}
		})
	}
}

type invalidExample struct {
	Age int `binding:"max=150" example:"200" form:"age"`
}

func TestExample(t *testing.T) {
	engine := gin.New()
	xapi.Get(engine, "/people", func(context.Context, *invalidExample) (xapi.Empty, error) {
		return xapi.Empty{}, xerror.New(xerror.NotExist, "")
	}, xapi.ID("listPeople"))
	_, err := openapix.Document(engine)
	const want = `field Age: example "200": age must be 150 or less`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Document returned the error %v, want one with %q", err, want)
	}
}
