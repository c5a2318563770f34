package xlease

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// GetLeases returns the leases that the application's context carries. The error is that
// of xctxutil.Get.
func GetLeases(ctx context.Context) (*Leases, *xerror.Error) {
	return xctxutil.Get[*Leases](ctx, xctx.LeasesKey)
}

// MustGetLeases is GetLeases for an application that has leases: it panics if there are
// none.
func MustGetLeases(ctx context.Context) *Leases {
	return xctxutil.MustGet[*Leases](ctx, xctx.LeasesKey)
}
