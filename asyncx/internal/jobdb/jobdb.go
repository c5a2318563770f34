// Package jobdb is what engines that keep jobs in a database of xdb have in common.
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

// Find returns the database of an option, or else the application's.
func Find(ctx context.Context, given *gorm.DB) (*gorm.DB, error) {
	if given != nil {
		return given, nil
	}
	db, err := xdb.GetDB(ctx)
	if err != nil {
		return nil, fmt.Errorf(
			"the application has no database: give xoption.WithDatabase, or WithDB: %w", err)
	}
	return db, nil
}

// Silent returns a database that logs nothing: jobs every second are no news, and what
// fails is returned.
func Silent(db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{
		NewDB: true, SkipDefaultTransaction: true,
		Logger: logger.Discard,
	})
}

// Handle returns the transaction that ctx is in, or else the database of the jobs.
func Handle(ctx context.Context, jobs *gorm.DB) (db *gorm.DB, inTransaction bool, err error) {
	ctx = xdb.WithPrimary(xctx.Unpooled(ctx))
	tx, xerr := xdb.GetDB(ctx)
	if xerr != nil {
		return jobs.WithContext(ctx), false, nil //nolint:nilerr // WithDB has given one
	}
	if _, ok := tx.Statement.ConnPool.(gorm.TxCommitter); !ok {
		return jobs.WithContext(ctx), false, nil
	}
	if tx.Dialector != jobs.Dialector {
		return nil, false, fmt.Errorf("%w: it is of another database than the jobs",
			job.ErrTransaction)
	}
	return Silent(tx).WithContext(ctx), true, nil
}
