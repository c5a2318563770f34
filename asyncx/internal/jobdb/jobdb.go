// Package jobdb contains helpers for engines that store jobs in an xdb database.
package jobdb

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// Find returns db, or the application's database if db is nil.
func Find(ctx context.Context, db *gorm.DB) (*gorm.DB, error) {
	if db != nil {
		return db, nil
	}
	db, err := xdb.GetDB(ctx)
	if err != nil {
		return nil, fmt.Errorf(
			"the application has no database: use xoption.WithDatabase or WithDB: %w", err)
	}
	return db, nil
}

// Silent returns db without its logger: polls would fill the log, and callers receive the
// errors.
func Silent(db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{
		NewDB: true, SkipDefaultTransaction: true, Logger: logger.Discard,
	})
}

// Handle returns the transaction of ctx, or else the database of the jobs. It returns
// job.ErrTransaction if the transaction belongs to another database.
func Handle(ctx context.Context, jobs *gorm.DB) (db *gorm.DB, inTransaction bool, err error) {
	ctx = xdb.WithPrimary(xctx.Unpooled(ctx))
	tx, xerr := xdb.GetDB(ctx)
	if xerr != nil {
		return jobs.WithContext(ctx), false, nil //nolint:nilerr // the database comes from WithDB
	}
	if _, ok := tx.Statement.ConnPool.(gorm.TxCommitter); !ok {
		return jobs.WithContext(ctx), false, nil
	}
	if tx.Dialector != jobs.Dialector {
		return nil, false, fmt.Errorf("%w: it belongs to another database",
			job.ErrTransaction)
	}
	return Silent(tx).WithContext(ctx), true, nil
}
