package oracle

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	lockTable = "plinth_migration_lock"

	// migrationWait is how long a migration waits for the lock before it says so, lockPause the time between two tries.
	migrationWait = time.Minute
	lockPause     = 200 * time.Millisecond

	nameExists, noTable = 955, 942 // ORA-00955, ORA-00942
)

// Migrate implements driver.Migrator. The lock is a row lock on the one row of a small table, which needs no privilege that a
// migration does not need too, and is let go where the process dies.
//
// Every change of the schema commits, and would let go of a lock of its own session. So the lock has a session beside the
// pool, and run gets another one, of the pool, which is closed afterwards.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) (err error) {
	d, ok := db.Dialector.(*dialector)
	if !ok {
		return fmt.Errorf("oracle: the dialector is a %T, not this package's", db.Dialector)
	}
	beside := sql.OpenDB(d.connector)
	beside.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, beside.Close()) }()
	tx, err := lock(ctx, beside)
	if err != nil {
		return d.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // or the end of the session
	return d.alone(ctx, db, run)
}

// alone calls run with a handle on one connection, and closes that.
func (d *dialector) alone(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	c, err := pool.Conn(ctx)
	if err != nil {
		return d.Translate(err)
	}
	defer func() {
		_ = c.Raw(func(any) error { return sqldriver.ErrBadConn })
		_ = c.Close()
	}()
	tx := db.Session(&gorm.Session{NewDB: true, Context: ctx})
	tx.Statement.ConnPool = c
	return run(tx)
}

// lock returns a transaction that holds the lock.
func lock(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	deadline := time.Now().Add(migrationWait)
	for {
		tx, err := tryLock(ctx, db)
		if err == nil || (Driver{}).ErrorKind(err) != driver.LockTimeout || time.Now().After(deadline) {
			return tx, err
		}
		timer := time.NewTimer(lockPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// tryLock locks the row at once or not at all. Where there is no table or no row, it makes them.
func tryLock(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	for {
		tx, err := db.BeginTx(context.WithoutCancel(ctx), nil) // database/sql would end it from another goroutine
		if err != nil {
			return nil, err
		}
		var id int
		err = tx.QueryRowContext(ctx, "SELECT id FROM "+lockTable+" FOR UPDATE NOWAIT").Scan(&id)
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

// number returns the number of an error of the server, 0 where it is none.
func number(err error) int {
	var e *network.OracleError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}
