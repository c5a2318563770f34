package xhttp

import (
	"context"

	"github.com/gin-gonic/gin"
)

// Context returns the request's own context where ctx is a *gin.Context, and ctx otherwise.
//
// Both carry the same cancellation and the application's values, but gin reuses its contexts for other
// requests. Whatever may look at a context after the handler has returned, such as a pool of connections
// or a goroutine, is given this one. What handlers put into gin's context with Set is not in it.
func Context(ctx context.Context) context.Context {
	if c, ok := ctx.(*gin.Context); ok && c != nil && c.Request != nil {
		return c.Request.Context()
	}
	return ctx
}
