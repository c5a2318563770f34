package xctx

import (
	"context"
	"sync/atomic"
)

// PooledKey is the key under which a *gin.Context returns itself, also from a context
// derived from it. It equals gin.ContextKey and is repeated here so that packages without
// HTTP do not link gin.
const PooledKey = "_gin-gonic/gin/contextkey"

// unpool is atomic because the init function of another package may start a goroutine
// which reads it.
var unpool atomic.Pointer[func(v any) context.Context]

// RegisterPooled sets how Unpooled finds the request's own context: own returns nil for a
// value that is no pooled context. Package xhttp registers the function for gin.
func RegisterPooled(own func(v any) context.Context) { unpool.Store(&own) }

// Unpooled returns the request's own context if ctx is a *gin.Context, and ctx otherwise.
// It knows gin's contexts in every program that imports package xhttp, as each with an
// HTTP server does.
//
// Both carry the same cancellation and the application's values, but gin reuses its
// contexts for other requests. Code that may use a context after the handler has
// returned, such as a connection pool or a goroutine, needs this one. It does not contain
// what handlers store with gin's Set.
func Unpooled(ctx context.Context) context.Context {
	if own := unpool.Load(); own != nil {
		if request := (*own)(ctx); request != nil {
			return request
		}
	}
	return ctx
}
