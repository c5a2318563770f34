package xlease

import (
	"context"
	"errors"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

var errNoLeases = errors.New("xlease: the context has no leases")

// GetLeases returns the leases that the application's context carries. Where there are none, the error is a ConfigError.
func GetLeases(ctx context.Context) (*Leases, *xerror.Error) {
	if ctx != nil {
		if l, ok := ctx.Value(xctx.LeasesKey).(*Leases); ok && l != nil {
			return l, nil
		}
	}
	return nil, xerror.Wrap(xerror.ConfigError, "", errNoLeases)
}

// MustGetLeases is GetLeases for an application that has leases: it panics where there are none.
func MustGetLeases(ctx context.Context) *Leases {
	l, err := GetLeases(ctx)
	if err != nil {
		panic(err)
	}
	return l
}
