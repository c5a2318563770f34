package xctx

import (
	"context"
	"sync/atomic"
)

// PooledKey is the key under which a *gin.Context, and every context derived from it,
// returns the *gin.Context. It duplicates gin.ContextKey so that packages without HTTP do
// not link gin.
const PooledKey = "_gin-gonic/gin/contextkey"

// unpool is atomic because a goroutine that another package's init function started may
// read it concurrently.
var unpool atomic.Pointer[func(v any) context.Context]

// RegisterPooled sets the function that Unpooled calls to find the request's own context.
// own returns nil if v is not a pooled context. Package xhttp registers a function for
// gin.
func RegisterPooled(own func(v any) context.Context) { unpool.Store(&own) }

// Unpooled returns the request's own context if ctx is a *gin.Context, and ctx otherwise.
// It detects gin's contexts only in programs that import package xhttp.
//
// Both contexts carry the same cancellation and the application's values, but gin reuses
// its contexts for other requests. Code that may use a context after the handler
// returned, such as a connection pool or a goroutine, must use Unpooled. The returned
// context does not contain the values that handlers store with gin's Set.
func Unpooled(ctx context.Context) context.Context {
	if own := unpool.Load(); own != nil {
		if request := (*own)(ctx); request != nil {
			return request
		}
	}
	return ctx
}
