package xdb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

const (
	// prefixMark stands in a file for the table prefix.
	prefixMark = "${prefix}"

	savepoint = "plinth_migration_file"
)

// errNotUndone means that the transaction around a migration is of no more use.
var errNotUndone = errors.New("what had been done could not be undone within its transaction")

// unit calls do in a transaction: one of its own, or, where the lock is one already, up to a savepoint. Of gorm's own
// nested transactions the error of going back is lost.
//
// The statements end with the context, the transaction does not: database/sql would end it from a goroutine of its own, and
// close the connection under the lock that is still held there.
func (r *run) unit(ctx context.Context, tx *gorm.DB, do func(tx *gorm.DB) error) error {
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
	return r.target.schemaError("migration "+r.file.Name+": transaction", err)
}

func (r *run) savepoint(ctx context.Context, tx *gorm.DB, do func(tx *gorm.DB) error) error {
	if err := instance(tx).SavePoint(savepoint).Error; err != nil {
		return r.target.schemaError("migration "+r.file.Name+": savepoint", err)
	}
	err := do(tx)
	if err == nil {
		return nil
	}
	steady := tx.WithContext(context.WithoutCancel(ctx))
	back := instance(steady).RollbackTo(savepoint).Error
	if back == nil || ctx.Err() != nil { // with which the whole transaction may have ended
		return err
	}
	return fmt.Errorf("%w; %w: %w", err, errNotUndone, r.target.secrets.scrub(back, r.target.kindOf(back)))
}

// instance returns a handle on the same connection that keeps the error of what is done with it.
func instance(tx *gorm.DB) *gorm.DB { return tx.Session(&gorm.Session{NewDB: true}).Scopes() }

// statement runs one statement of the file.
func (r *run) statement(tx *gorm.DB, i int) error {
	s := r.script.Statements[i]
	sql := strings.ReplaceAll(s.SQL, prefixMark, prefixOf(r.db))
	err := execute(tx, sql)
	if err != nil {
		err = withoutValues(err, r.script.Statements, prefixOf(r.db), r.db.Name())
	}
	return r.target.schemaError(fmt.Sprintf("migration %s:%d", r.file.Name, s.Line), err)
}

// execute runs a statement without preparing it, which some databases cannot do with changes of the schema.
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
