package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

const (
	// prefixMark is replaced by the table prefix.
	prefixMark = "${prefix}"

	savepoint = "plinth_migration_file"
)

// errNotUndone means that the transaction of the lock cannot be used any more.
var errNotUndone = errors.New("what had been done could not be undone within its transaction")

// transaction calls do in a transaction of its own or, if the lock already is one, up to
// a savepoint. gorm's own nested transactions lose the error of a rollback to the
// savepoint.
//
// The statements end with ctx, the transaction does not: database/sql would roll it back
// from another goroutine, and close the connection that still has the lock.
func (r *run) transaction(ctx context.Context, tx *gorm.DB, do func(tx *gorm.DB) error) error {
	if r.inTx {
		return r.savepoint(ctx, tx, do)
	}
	var failure error
	err := tx.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(ctx)}).Transaction(func(tx *gorm.DB) error {
		failure = do(tx.WithContext(ctx))
		return failure
	})
	if failure != nil {
		return failure
	}
	return r.failed(": transaction", err)
}

func (r *run) savepoint(ctx context.Context, tx *gorm.DB, do func(tx *gorm.DB) error) error {
	if err := instance(tx).SavePoint(savepoint).Error; err != nil {
		return r.failed(": savepoint", err)
	}
	err := do(tx)
	if err == nil {
		return nil
	}
	steady := tx.WithContext(context.WithoutCancel(ctx))
	back := instance(steady).RollbackTo(savepoint).Error
	if back == nil || ctx.Err() != nil { // the end of ctx may have ended the whole transaction
		return err
	}
	return fmt.Errorf("%w; %w: %w", err, errNotUndone, r.info.Redact(back))
}

// instance returns a handle on the same connection that stores the error of its
// statements.
func instance(tx *gorm.DB) *gorm.DB { return tx.Session(&gorm.Session{NewDB: true}).Scopes() }

// statement runs one statement of the file.
func (r *run) statement(tx *gorm.DB, i int) error {
	s, prefix := r.Statements[i], prefixOf(r.db)
	err := execute(tx, strings.ReplaceAll(s.SQL, prefixMark, prefix))
	if err != nil {
		err = withoutValues(err, r.Statements, prefix, r.db.Name())
	}
	return r.failed(fmt.Sprintf(":%d", s.Line), err)
}

// execute runs a statement without preparing it: some databases cannot prepare changes of
// the schema.
func execute(tx *gorm.DB, sql string) error {
	tx = instance(tx)
	switch pool := tx.Statement.ConnPool.(type) {
	case *gorm.PreparedStmtDB:
		tx.Statement.ConnPool = pool.ConnPool
	case *gorm.PreparedStmtTX:
		tx.Statement.ConnPool = pool.Tx
	}
	return tx.Exec(sql).Error
}

// prefixOf returns the table prefix of a database.
func prefixOf(db *gorm.DB) string {
	naming, _ := namingOf(db)
	return naming.TablePrefix
}
