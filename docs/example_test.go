package docs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/docs"
)

func ExampleNew() {
	site, err := docs.New(docs.WithBaseURL("https://docs.example.org"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet,
		"/docs/guide/quick-start.md", nil)
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	title, _, _ := strings.Cut(w.Body.String(), "\n")
	fmt.Println(w.Code, title)
	// Output: 200 # Quick start (/docs/guide/quick-start)
}

func withDocumentation(base string) (xoption.Option, error) {
	site, err := docs.New(docs.WithBaseURL(base))
	if err != nil {
		return nil, err
	}
	return xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		for _, path := range []string{
			"/docs", "/docs/*page", "/zh", "/llms.txt", "/llms-full.txt",
			"/llms.mdx/*page", "/assets/*file", "/search", "/api/search", "/api/mcp",
		} {
			engine.Any(path, gin.WrapH(site))
		}
	}), nil
}

// TestSite_Service mounts the site in an application, behind its middleware.
func TestSite_Service(t *testing.T) {
	documentation, err := withDocumentation("https://example.org")
	if err != nil {
		t.Fatal(err)
	}
	app := plinthtest.New(t, documentation)
	tests := []struct {
		name, method, path string
		want               int
	}{
		{"a page", http.MethodGet, "/docs/guide/quick-start", http.StatusOK},
		{"a page with HEAD", http.MethodHead, "/docs/guide/quick-start", http.StatusOK},
		{"an unknown page", http.MethodGet, "/docs/guide/gone", http.StatusNotFound},
		{"the index", http.MethodGet, "/llms.txt", http.StatusOK},
		{"another method", http.MethodDelete, "/llms.txt", http.StatusMethodNotAllowed},
		{"an event stream of the protocol", http.MethodGet, "/api/mcp", http.StatusMethodNotAllowed},
		{"a preflight", http.MethodOptions, "/api/mcp", http.StatusNoContent},
		{"a path outside the site", http.MethodGet, "/elsewhere", http.StatusNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if r := app.Request(tt.method, tt.path, nil); r.Status() != tt.want {
				t.Errorf("%s %s = %d %.200s, want %d",
					tt.method, tt.path, r.Status(), r.Body(), tt.want)
			}
		})
	}
}
