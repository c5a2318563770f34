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
	// lockKey is the key of the advisory lock that a migration holds: "plinth" in ASCII.
	// It is the same for all who share a database, whatever their prefix, because an
	// index or a type of one can get in the other's way.
	lockKey int64 = 0x706c696e7468

	sessionLock     = "SELECT pg_try_advisory_lock($1)"
	transactionLock = "SELECT pg_try_advisory_xact_lock($1)"
)

// Migrate implements driver.Migrator. The lock is one of the session and not of a
// transaction, so that a migration can do what PostgreSQL refuses within one. It ends
// with the connection, which is closed afterwards: also if the process dies.
//
// Behind a pooler, such as PgBouncer, statements may go to one session after the other,
// and a lock would stay in one of them for ever. There the migration is one transaction,
// and so is the lock.
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

// isDirect reports whether the session is the one that the connection began with. A
// pooler gives out numbers of its own.
func isDirect(ctx context.Context, conn *sql.Conn) (bool, error) {
	var here, there uint32
	err := conn.Raw(func(c any) error {
		pgx, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("postgres: database/sql's connection is a %T", c)
		}
		here = pgx.Conn().PgConn().PID()
		return nil
	})
	if err != nil {
		return false, err
	}
	err = conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&there)
	return here == there, err
}

// inTransaction calls run in a transaction that holds the lock. Its statements end with
// ctx, the transaction itself does not.
func inTransaction(ctx context.Context, tx *gorm.DB, run func(tx *gorm.DB) error) error {
	steady := tx.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(ctx)})
	return steady.Transaction(func(tx *gorm.DB) error {
		if err := lock(ctx, tx.Statement.ConnPool, transactionLock); err != nil {
			return err
		}
		return run(tx.WithContext(ctx))
	})
}

// lock takes the lock by a statement that says whether it was free, asking again until it
// is.
func lock(ctx context.Context, conn gorm.ConnPool, try string) error {
	return driver.WaitForLock(ctx, func() (mine bool, err error) {
		err = conn.QueryRowContext(ctx, try, lockKey).Scan(&mine)
		return mine, err
	})
}
