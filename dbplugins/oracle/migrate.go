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
	lockQuery = "SELECT id FROM " + lockTable + " FOR UPDATE NOWAIT"

	// checkTimeout limits the check whether the lock is still held.
	checkTimeout = 10 * time.Second

	nameExists, noTable = 955, 942 // ORA-00955, ORA-00942
)

// Migrate implements driver.Migrator. The lock is a row lock of a table with one row. It
// needs no additional privileges, and it is released when the process exits.
//
// Schema changes commit, which would release a lock of their session. Therefore the lock
// uses a session outside of the pool, and run uses a connection of the pool, which is
// closed afterwards. The idle session of the lock may be closed by the server or the
// network. Migrate checks the lock after run, and returns an error if it was lost,
// because another process may have run the same migration.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	d, ok := db.Dialector.(*dialector)
	if !ok {
		return fmt.Errorf("oracle: unexpected dialector type %T", db.Dialector)
	}
	lockPool := sql.OpenDB(d.connector)
	lockPool.SetMaxOpenConns(1)
	defer func() { _ = lockPool.Close() }() // run has already succeeded or failed
	tx, err := lock(ctx, lockPool)
	if err != nil {
		return d.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // closing the session also releases the lock
	err = driver.WithConn(ctx, db, func(tx *gorm.DB, _ *sql.Conn) error { return run(tx) })
	if err != nil {
		return err
	}
	if err := checkLock(ctx, tx); err != nil {
		return fmt.Errorf("oracle: the migration has run, but its lock was lost, "+
			"and another process may have run it too: %w", d.Translate(err))
	}
	return nil
}

// checkLock returns an error if the lock is no longer held. It ignores the cancellation
// of ctx.
func checkLock(ctx context.Context, tx *sql.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	var id int
	return tx.QueryRowContext(ctx, lockQuery).Scan(&id)
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

// tryLock locks the row without waiting. It creates the table or the row if missing.
func tryLock(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	for {
		// database/sql would roll back in another goroutine
		tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return nil, err
		}
		var id int
		err = tx.QueryRowContext(ctx, lockQuery).Scan(&id)
		if err == nil {
			return tx, nil
		}
		if err := createMissing(ctx, db, tx, err); err != nil {
			return nil, err
		}
	}
}

// createMissing rolls tx back and creates the table or row whose absence caused the
// error.
func createMissing(ctx context.Context, db *sql.DB, tx *sql.Tx, cause error) error {
	if err := tx.Rollback(); err != nil {
		return errors.Join(cause, err)
	}
	switch {
	case errors.Is(cause, sql.ErrNoRows):
		_, err := db.ExecContext(ctx, "INSERT INTO "+lockTable+" (id) VALUES (1)")
		if (Driver{}).ErrorKind(err) == driver.Unique {
			return nil // another process created it
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

// number returns the number of a server error, or 0.
func number(err error) int {
	var e *network.OracleError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}
