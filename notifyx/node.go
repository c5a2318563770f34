package notifyx

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// RouterKey is the key under which an application lists the node of InitRouter.
const RouterKey xctx.ContextKey = "plinth_notify_router"

// InitRouter returns a node that makes the router, for the key RouterKey.
func InitRouter(opts ...Option) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		return newRouter(ctx, opts)
	}
}

// GetRouter returns the router of the application. Where ctx carries none, the error is a
// ConfigError.
func GetRouter(ctx context.Context) (*Router, *xerror.Error) {
	return xctxutil.Get[*Router](xctx.Unpooled(ctx), RouterKey)
}

// MustGetRouter is GetRouter for an application that has a router: it panics where there
// is none.
func MustGetRouter(ctx context.Context) *Router {
	return xctxutil.MustGet[*Router](xctx.Unpooled(ctx), RouterKey)
}
