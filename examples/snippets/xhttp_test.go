package snippets_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func TestXhttp_GetAuthorization(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.GET("/", func(c *gin.Context) {
			token := xhttp.GetAuthorization(c) // "abc.def" of "Authorization: Bearer abc.def"
			if token == "" {
				xresult.AbortError(c, xerror.TokenMissing, "", nil)
				return
			}
			xresult.Success(c, token)
		})
	}))
	if r := app.Request(http.MethodGet, "/", nil); r.Status() != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", r.Status(), r.Body())
	}
	with := plinthtest.WithHeader("Authorization", "Bearer abc.def")
	if r := app.Request(http.MethodGet, "/", nil, with); r.Message() != "abc.def" {
		t.Errorf("with a token: %d %s", r.Status(), r.Body())
	}
}
