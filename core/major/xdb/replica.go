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

// newRouter returns the gorm plugin that sends the reads of db to the replicas.
func (d *Database) newRouter(db *gorm.DB) *replica.Router {
	var all []*replica.Replica
	for _, r := range d.replicas {
		all = append(all, &replica.Replica{Info: r.info, Connect: func(ctx context.Context) (*gorm.DB, error) {
			copied, err := r.attempt(ctx, r.options)
			if err == nil && db.PrepareStmt {
				copied.ConnPool = gorm.NewPreparedStmtDB(copied.ConnPool, db.PrepareStmtMaxSize, db.PrepareStmtTTL)
			}
			return copied, err
		}})
	}
	return replica.New(all)
}
