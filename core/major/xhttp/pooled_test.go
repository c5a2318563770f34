package xhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xctx"
	_ "github.com/plinthgo/plinth/core/major/xhttp"
)

type contextKey struct{}

func TestUnpooled_GinContext(t *testing.T) {
	ctx := context.WithValue(t.Context(), contextKey{}, 1)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	if got := xctx.Unpooled(c); got != context.Context(c) {
		t.Errorf("Unpooled without a request = %v, want the gin context itself", got)
	}
	c.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if got := xctx.Unpooled(c); got != ctx {
		t.Errorf("Unpooled of a gin context = %v, want the context of the request", got)
	}
	if got := xctx.Unpooled(ctx); got != ctx {
		t.Errorf("Unpooled of another context = %v, want it unchanged", got)
	}
}

func TestPooledKey(t *testing.T) {
	if xctx.PooledKey != gin.ContextKey {
		t.Errorf("PooledKey = %q, want gin.ContextKey, %q", xctx.PooledKey, gin.ContextKey)
	}
}
