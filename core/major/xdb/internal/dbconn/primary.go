package dbconn

import (
	"context"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// primaryKey marks a context whose reads go to the primary.
type primaryKey struct{}

// WithPrimary implements xdb.WithPrimary.
func WithPrimary(ctx context.Context) context.Context {
	if OnPrimary(ctx) {
		return ctx
	}
	return context.WithValue(xctx.Unpooled(ctx), primaryKey{}, true)
}

// OnPrimary reports whether the reads of ctx go to the primary.
func OnPrimary(ctx context.Context) bool { return ctx.Value(primaryKey{}) != nil }
