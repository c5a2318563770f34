package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	lockTable = "plinth_migration_lock"
	askLock   = "SELECT id FROM " + lockTable + " FOR UPDATE NOWAIT"

	// askWait bounds the question whether the lock is still there.
	askWait = 10 * time.Second

	nameExists, noTable = 955, 942 // ORA-00955, ORA-00942
)

// Migrate implements driver.Migrator. The lock is a row lock on the one row of a small
// table, which needs no privilege that a migration does not need too, and is let go if
// the process dies.
//
// Every change of the schema commits, and would let go of a lock of its own session. So
// the lock has a session outside of the pool, and run gets another one, of the pool,
// which is closed afterwards. The session of the lock has nothing to do in the meantime,
// and may be ended for that: the lock is asked for again when run has returned, and is an
// error if it is lost, because another process may have run the same.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	d, ok := db.Dialector.(*dialector)
	if !ok {
		return fmt.Errorf("oracle: the dialector is a %T, not this package's", db.Dialector)
	}
	beside := sql.OpenDB(d.connector)
	beside.SetMaxOpenConns(1)
	defer func() { _ = beside.Close() }() // what run has done is done
	tx, err := lock(ctx, beside)
	if err != nil {
		return d.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // or the end of the session
	err = driver.WithConn(ctx, db, func(tx *gorm.DB, _ *sql.Conn) error { return run(tx) })
	if err != nil {
		return err
	}
	if err := held(ctx, tx); err != nil {
		return fmt.Errorf("oracle: the migration has run, but its lock was lost meanwhile, "+
			"and another process may have run it too: %w", d.Translate(err))
	}
	return nil
}

// held returns why the lock is not held any more. The end of ctx is no reason.
func held(ctx context.Context, tx *sql.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
	defer cancel()
	var id int
	return tx.QueryRowContext(ctx, askLock).Scan(&id)
}

// lock returns a transaction that holds the lock.
func lock(ctx context.Context, db *sql.DB) (tx *sql.Tx, err error) {
	err = driver.WaitForLock(ctx, func() (bool, error) {
		tx, err = tryLock(ctx, db)
		if (Driver{}).ErrorKind(err) == driver.LockTimeout {
			return false, nil
		}
		return err == nil, err
	})
	return tx, err
}

// tryLock locks the row at once or not at all. If there is no table or no row, it
// makes them.
func tryLock(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	for {
		// database/sql would end it from another goroutine
		tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return nil, err
		}
		var id int
		err = tx.QueryRowContext(ctx, askLock).Scan(&id)
		if err == nil {
			return tx, nil
		}
		err = missing(ctx, db, tx, err)
		if err != nil {
			return nil, err
		}
	}
}

// missing makes what the error says is missing, for which it first ends the transaction.
func missing(ctx context.Context, db *sql.DB, tx *sql.Tx, cause error) error {
	if err := tx.Rollback(); err != nil {
		return errors.Join(cause, err)
	}
	switch {
	case errors.Is(cause, sql.ErrNoRows):
		_, err := db.ExecContext(ctx, "INSERT INTO "+lockTable+" (id) VALUES (1)")
		if (Driver{}).ErrorKind(err) == driver.Unique {
			return nil // another process was faster
		}
		return err
	case number(cause) == noTable:
		_, err := db.ExecContext(ctx, "CREATE TABLE "+lockTable+" (id NUMBER(1) PRIMARY KEY)")
		if number(err) == nameExists {
			return nil
		}
		return err
	default:
		return cause
	}
}

// number returns the number of an error of the server, 0 if it is none.
func number(err error) int {
	var e *network.OracleError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}
