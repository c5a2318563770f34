package notifyx

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// RouterKey is the component key of InitRouter.
const RouterKey xctx.ContextKey = "plinth_notify_router"

// InitRouter returns a component that creates the router, for the key RouterKey.
func InitRouter(opts ...Option) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		return newRouter(ctx, opts)
	}
}

// GetRouter returns the router of the application, or a ConfigError if ctx has no router.
func GetRouter(ctx context.Context) (*Router, *xerror.Error) {
	return xctxutil.Get[*Router](xctx.Unpooled(ctx), RouterKey)
}

// MustGetRouter is like GetRouter but panics if ctx has no router.
func MustGetRouter(ctx context.Context) *Router {
	return xctxutil.MustGet[*Router](xctx.Unpooled(ctx), RouterKey)
}
