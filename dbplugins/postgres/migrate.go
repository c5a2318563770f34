package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// lockKey is the key of the advisory lock of migrations: "plinth" in ASCII. It does
	// not depend on the table prefix, because indexes and types of different prefixes can
	// conflict.
	lockKey int64 = 0x706c696e7468

	sessionLock     = "SELECT pg_try_advisory_lock($1)"
	transactionLock = "SELECT pg_try_advisory_xact_lock($1)"
)

// Migrate implements driver.Migrator. It holds a session lock, so that a migration can
// run statements that PostgreSQL rejects in a transaction. The lock is released when the
// connection is closed, after the migration or when the process exits.
//
// A pooler such as PgBouncer may send statements to several sessions, and a session would
// retain the lock after the migration. Therefore, behind a pooler the migration is one
// transaction, which holds a transaction lock.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return driver.WithConn(ctx, db, func(tx *gorm.DB, conn *sql.Conn) error {
		direct, err := isDirect(ctx, conn)
		if err != nil {
			return err
		}
		if !direct {
			return inTransaction(ctx, tx, run)
		}
		if err := lock(ctx, conn, sessionLock); err != nil {
			return err
		}
		return run(tx)
	})
}

// isDirect reports whether conn is not behind a pooler. A pooler reports its own process
// IDs.
func isDirect(ctx context.Context, conn *sql.Conn) (bool, error) {
	var reported, actual uint32
	err := conn.Raw(func(c any) error {
		pgx, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("postgres: database/sql's connection is a %T", c)
		}
		reported = pgx.Conn().PgConn().PID()
		return nil
	})
	if err != nil {
		return false, err
	}
	err = conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&actual)
	return reported == actual, err
}

// inTransaction calls run in a transaction that holds the lock. Canceling ctx stops the
// statements; it does not close the transaction.
func inTransaction(ctx context.Context, tx *gorm.DB, run func(tx *gorm.DB) error) error {
	detached := tx.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(ctx)})
	return detached.Transaction(func(tx *gorm.DB) error {
		if err := lock(ctx, tx.Statement.ConnPool, transactionLock); err != nil {
			return err
		}
		return run(tx.WithContext(ctx))
	})
}

// lock repeats the query until it acquires the lock.
func lock(ctx context.Context, conn gorm.ConnPool, query string) error {
	return driver.WaitForLock(ctx, func() (acquired bool, err error) {
		err = conn.QueryRowContext(ctx, query, lockKey).Scan(&acquired)
		return acquired, err
	})
}
