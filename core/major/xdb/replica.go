package xdb

import (
	"context"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/internal/replica"
)

// WithPrimary returns a context whose reads go to the primary database, never to a replica. It is for
// reads that must see a recent write, since a replica may lag behind:
//
//	ctx = xdb.WithPrimary(ctx)
//	err := xdb.MustGetDB(ctx).First(&user, id).Error
//
// Writes and transactions always go to the primary. Without replicas it changes nothing.
func WithPrimary(ctx context.Context) context.Context { return dbconn.WithPrimary(ctx) }

// newRouter returns the gorm plugin that sends reads to the replicas of t.
func (t *target) newRouter(o Options) *replica.Router {
	options := o
	options.Gorm = func(c *gorm.Config) {
		if o.Gorm != nil {
			o.Gorm(c)
		}
		c.PrepareStmt = false // gorm starts a goroutine for it that never ends, at every attempt
	}
	var all []*replica.Replica
	for _, r := range t.replicas {
		r.Log = o.Log
		all = append(all, &replica.Replica{Info: &r.Info, Connect: func(ctx context.Context, single bool) (*gorm.DB, error) {
			if single {
				options := options
				options.MaxOpenConns, options.MaxIdleConns = 1, 1
				return r.attempt(ctx, options)
			}
			return r.attempt(ctx, options)
		}})
	}
	return replica.New(all)
}
