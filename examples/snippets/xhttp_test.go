package snippets_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func TestTokenIsReadOrRefused(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xOption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.GET("/", func(c *gin.Context) {
			token := xHttp.GetAuthorization(c) // "abc.def" of "Authorization: Bearer abc.def"
			if token == "" {
				xResult.AbortError(c, xError.TokenMissing, "", nil)
				return
			}
			xResult.Success(c, token)
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
