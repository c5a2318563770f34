package xdb

import (
	"context"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// primaryKey marks a context whose reads go to the primary.
type primaryKey struct{}

// WithPrimary returns a context whose reads go to the primary database, never to a replica. It is for what has to see a
// write that has just been made, since a replica may lag behind:
//
//	ctx = xdb.WithPrimary(ctx)
//	err := xdb.MustGetDB(ctx).First(&user, id).Error
//
// Writes and transactions go there anyway. Without replicas it changes nothing.
func WithPrimary(ctx context.Context) context.Context {
	if onPrimary(ctx) {
		return ctx
	}
	return context.WithValue(xctx.Unpooled(ctx), primaryKey{}, true)
}

func onPrimary(ctx context.Context) bool { return ctx.Value(primaryKey{}) != nil }
