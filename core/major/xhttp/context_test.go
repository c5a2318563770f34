package xhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

type contextKey struct{}

func TestContextIsTheRequestsForAGinContext(t *testing.T) {
	own := context.WithValue(t.Context(), contextKey{}, 1)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	if got := xhttp.Context(c); got != context.Context(c) {
		t.Errorf("without a request, Context = %v, want the gin context itself", got)
	}
	c.Request = httptest.NewRequestWithContext(own, http.MethodGet, "/", http.NoBody)
	if got := xhttp.Context(c); got != own {
		t.Errorf("Context of a gin context = %v, want the request's", got)
	}
	if got := xhttp.Context(own); got != own {
		t.Errorf("Context of another context = %v, want it unchanged", got)
	}
}
