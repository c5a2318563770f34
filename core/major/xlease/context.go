package xlease

import (
	"context"
	"errors"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

var errNoLeases = errors.New("xlease: the context has no leases")

// GetLeases returns the leases that the application's context carries. Where there are none, the error is a ConfigError.
func GetLeases(ctx context.Context) (*Leases, *xError.Error) {
	if ctx != nil {
		if l, ok := ctx.Value(xCtx.LeasesKey).(*Leases); ok && l != nil {
			return l, nil
		}
	}
	return nil, xError.Wrap(xError.ConfigError, "", errNoLeases)
}

// MustGetLeases is GetLeases for an application that has leases: it panics where there are none.
func MustGetLeases(ctx context.Context) *Leases {
	l, err := GetLeases(ctx)
	if err != nil {
		panic(err)
	}
	return l
}
