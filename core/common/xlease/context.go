package xlease

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// GetLeases returns the leases in the context of the application. It returns the error of
// xctxutil.Get.
func GetLeases(ctx context.Context) (*Leases, *xerror.Error) {
	return xctxutil.Get[*Leases](ctx, xctx.LeasesKey)
}

// MustGetLeases is like GetLeases but panics if the context has no leases.
func MustGetLeases(ctx context.Context) *Leases {
	return xctxutil.MustGet[*Leases](ctx, xctx.LeasesKey)
}
