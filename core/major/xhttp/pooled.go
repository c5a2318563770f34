package xhttp

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

func init() { xctx.RegisterPooled(requestContext) }

// requestContext returns the context of the request of a *gin.Context, or nil for any
// other value.
func requestContext(v any) context.Context {
	if c, ok := v.(*gin.Context); ok && c != nil && c.Request != nil {
		return c.Request.Context()
	}
	return nil
}
