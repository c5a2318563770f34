// Package xdb opens databases through driver plugins.
//
// A plugin registers itself when it is imported:
//
//	import _ "github.com/plinthgo/plinth/dbplugins/sqlite"
//
// Applications open their database with xoption.WithDatabase and get it from the context:
//
//	err := xdb.MustGetDB(ctx).First(&user, id).Error
//
// # Errors
//
// Open wraps ErrUnknownDriver if no imported plugin has the name, and joins all problems
// of its options. Errors of statements wrap the error of the library and gorm's sentinel,
// and have the same xerror code on every driver. A statement whose context has ended
// fails with the error of the context. Errors and log lines of this package contain no
// password, no DSN and no literal of a statement.
//
// All functions are safe for concurrent use.
package xdb

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/internal/replica"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// GetDB returns the database of the application, or the transaction of Transaction, bound
// to ctx. If ctx ends, its statements are canceled. The error is a ConfigError if ctx has
// no database.
//
// GetDB replaces a *gin.Context by the context of its request, because gin reuses its
// contexts while a pool may still use the context of a statement.
func GetDB(ctx context.Context) (*gorm.DB, *xerror.Error) {
	ctx = xctx.Unpooled(ctx)
	db, err := xctxutil.Get[*gorm.DB](ctx, xctx.DatabaseKey)
	if err != nil {
		return nil, err
	}
	return db.WithContext(ctx), nil
}

// MustGetDB is like GetDB but panics with the error of GetDB if ctx has no database.
func MustGetDB(ctx context.Context) *gorm.DB {
	ctx = xctx.Unpooled(ctx)
	return xctxutil.MustGet[*gorm.DB](ctx, xctx.DatabaseKey).WithContext(ctx)
}

// Transaction runs fn in a transaction of the database of ctx. GetDB returns the
// transaction for the context passed to fn, so every function called with that context is
// part of it. An error or a panic of fn rolls back. A nested Transaction is a savepoint.
func Transaction(
	ctx context.Context, fn func(ctx context.Context) error, opts ...*sql.TxOptions,
) error {
	ctx = xctx.Unpooled(ctx)
	db, xerr := GetDB(ctx)
	if xerr != nil {
		return xerr
	}
	committed, end := false, func(bool) {}
	defer func() { end(committed) }() // also after a panic
	err := db.Transaction(func(tx *gorm.DB) error {
		var inner context.Context
		inner, end = transaction.Begin(ctx, tx)
		return fn(inner)
	}, opts...)
	committed = err == nil
	return err
}

// OnCommit runs fn after the transaction of ctx has committed, before the outermost
// Transaction returns. The context of fn is ctx outside the transaction. After a rollback
// fn never runs; without a transaction it runs immediately. Use it for effects that
// require the commit, such as a notification. Use a durable job for effects that must not
// be lost.
//
// OnCommit returns false, and fn does not run, in a transaction of NewContext and in one
// that has ended. A panic of fn propagates from Transaction although the transaction has
// committed.
func OnCommit(ctx context.Context, fn func(ctx context.Context)) bool {
	return transaction.OnCommit(xctx.Unpooled(ctx), fn)
}

// NewContext returns a context for which GetDB returns db, such as a transaction of
// gorm's own methods.
func NewContext(ctx context.Context, db *gorm.DB) context.Context {
	ctx = xctx.Unpooled(ctx)
	if _, ok := db.Statement.ConnPool.(gorm.TxCommitter); ok {
		return transaction.Join(ctx, db)
	}
	return context.WithValue(transaction.Without(ctx), xctx.DatabaseKey, db)
}

// WithPrimary returns a context whose reads go to the primary, never to a replica. Use it
// for reads that must see a recent write, because a replica may lag behind:
//
//	ctx = xdb.WithPrimary(ctx)
//	err := xdb.MustGetDB(ctx).First(&user, id).Error
//
// Writes and transactions always go to the primary. Without replicas it has no effect.
func WithPrimary(ctx context.Context) context.Context { return dbconn.WithPrimary(ctx) }

// CheckHealth pings the server. If all connections of the pool are in use, it opens
// another one, so that a saturated pool is not mistaken for an unavailable server. (If
// the database was opened with a Dialector, it uses only the pool.) If the server rejects
// that connection because of its limit, it has responded, and CheckHealth returns nil.
// The result does not depend on replicas, because the primary serves the reads of a
// replica that is down.
func CheckHealth(ctx context.Context, db *gorm.DB) error {
	return dbconn.Of(db).CheckHealth(ctx, db)
}

// Saturated reports whether all connections that the pool may open are in use, so that
// statements wait for one. It returns false for a pool without a limit.
func Saturated(db *gorm.DB) bool { return dbconn.Saturated(db) }

// Close releases the leases, waits for running statements, and closes the pools of db and
// its replicas. It accepts a nil db.
func Close(db *gorm.DB) error {
	if db == nil {
		return nil
	}
	var errs []error
	if k, ok := db.Plugins[leasesName].(*leaseKeeper); ok {
		errs = append(errs, k.close())
	}
	if r := replica.Of(db); r != nil {
		errs = append(errs, r.Close())
	}
	return errors.Join(append(errs, dbconn.Close(db))...)
}
