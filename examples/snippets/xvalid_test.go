package snippets_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func xvalidCheck(ctx context.Context) *xerror.Error {
	type Pair struct {
		Size int `json:"size" binding:"gte=2,lte=10"`
	}

	if err := xvalid.Validate(ctx, Pair{Size: 1}); err != nil {
		return xvalid.Error(ctx, xerror.BodyError, err)
	}
	return nil
}

func xvalidBind(c *gin.Context) {
	type Pair struct {
		Size int `json:"size" binding:"gte=2,lte=10"`
	}
	var request Pair
	if xvalid.HandleValidationError(c, c.ShouldBindJSON(&request)) {
		return // ResponseMiddleware writes the response
	}
	xresult.SuccessHasData(c, "accepted", request)
}

func TestXValid(t *testing.T) {
	t.Parallel()
	if err := xvalidCheck(t.Context()); err == nil || err.GetErrorCode() != xerror.BodyError {
		t.Errorf("xvalidCheck = %v, want BODY_ERROR", err)
	}
	app := plinthtest.New(t, xoption.WithRoute(func(_ context.Context, engine *gin.Engine) {
		engine.POST("/", xvalidBind)
	}))
	for body, want := range map[string]int{
		`{"size":1}`: http.StatusBadRequest,
		`{"size":2}`: http.StatusOK,
	} {
		if r := app.Request(http.MethodPost, "/", body); r.Status() != want {
			t.Errorf("%s: %d %s", body, r.Status(), r.Body())
		}
	}
}
