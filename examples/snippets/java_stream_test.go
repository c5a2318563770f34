package snippets_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// javaPrice is an item of the stream.
type javaPrice struct {
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

func javaPrices() iter.Seq2[javaPrice, error] {
	return func(yield func(javaPrice, error) bool) {
		for i, name := range []string{"tea", "bread"} {
			if !yield(javaPrice{Name: name, Cents: 100 + i}, nil) {
				return // the client closed the connection
			}
		}
		yield(javaPrice{}, xerror.New(xerror.UpstreamError, "the list is not complete"))
	}
}

func TestJavaStream(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithProfile(xbase.ProfileJava),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
			engine.GET("/prices", func(c *gin.Context) { xresult.Stream(c, javaPrices()) })
		}))
	for _, tc := range []struct{ accept, want string }{
		{
			accept: "application/x-ndjson",
			want:   "{\"name\":\"tea\",\"cents\":100}\n{\"name\":\"bread\",\"cents\":101}\n{\"context\":",
		},
		{
			accept: "text/event-stream",
			want:   "data: {\"name\":\"tea\",\"cents\":100}\n\ndata: {\"name\":\"bread\",\"cents\":101}\n\nevent: error\ndata: {\"context\":",
		},
	} {
		r := app.Request(http.MethodGet, "/prices", nil, plinthtest.WithHeader("Accept", tc.accept))
		if body := r.Body(); r.Status() != http.StatusOK || !strings.HasPrefix(body, tc.want) ||
			!strings.Contains(body, `"output":"GatewayError","code":50201`) {
			t.Errorf("%s = %d %s", tc.accept, r.Status(), body)
		}
		t.Logf("%s", r.Body())
	}
}
