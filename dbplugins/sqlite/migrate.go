package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// migrationWait limits how long a migration waits for the lock before it reports an
// error.
const migrationWait = time.Minute

// Migrate implements driver.Migrator. gorm checks for a table before it creates the
// table, so replicas that start together would create it twice. Therefore the migration
// is one transaction, which first acquires the write lock and is rolled back if it fails.
//
// SQLite rebuilds a table to change a column. Dropping the old table would delete rows
// that reference it with ON DELETE CASCADE, so Migrate disables foreign keys on its
// connection. SQLite ignores that setting within a transaction.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) (err error) {
		detached := tx.Session(&gorm.Session{Context: detach(ctx)})
		on, err := foreignKeys(detached, "")
		if err != nil {
			return err
		}
		defer func() { // also after a panic, because the connection returns to the pool
			_, restoreErr := foreignKeys(detached, fmt.Sprintf(" = %d", on))
			err = errors.Join(err, restoreErr)
		}()
		if _, err := foreignKeys(detached, " = OFF"); err != nil {
			return err
		}
		return inTransaction(ctx, detached, run)
	})
}

// outerKey is the context key for the context passed to detach.
type outerKey struct{}

// detach returns a context for a transaction that waits for its lock until ctx is
// canceled, but is not rolled back when ctx is canceled. database/sql rolls back in
// another goroutine and then closes the connection, which makes concurrent users of the
// sql.Conn fail or panic. Statements of the transaction still use ctx.
func detach(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), outerKey{}, ctx)
}

// outerContext returns the context that was passed to detach, or ctx.
func outerContext(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(outerKey{}).(context.Context); ok {
		return outer
	}
	return ctx
}

// TransactionalDDL implements driver.Migrator.
func (Driver) TransactionalDDL() bool { return true }

// foreignKeys reads or sets the pragma foreign_keys. It runs a query, which does not wait
// for writers.
func foreignKeys(db *gorm.DB, change string) (on int, err error) {
	err = db.Raw("PRAGMA foreign_keys" + change).Scan(&on).Error
	return on, err
}

// inTransaction calls run in a transaction that holds the write lock. It retries while
// another transaction holds the lock.
func inTransaction(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	for start := time.Now(); ; {
		locked := false
		err := db.Transaction(func(tx *gorm.DB) error {
			tx = tx.WithContext(ctx)
			if err := lockNow(tx); err != nil {
				return err
			}
			locked = true
			return run(tx)
		})
		if locked || driver.KindOf(err) != driver.LockTimeout ||
			time.Since(start) >= migrationWait {
			return err
		}
	}
}

// lockNow acquires the write lock with a write that has no effect, unless BEGIN has
// acquired it (see locksAtBegin). A read-only database has no write lock.
func lockNow(tx *gorm.DB) error {
	if d, ok := tx.Dialector.(*dialector); ok && locksAtBegin(d.DSN) {
		return nil
	}
	err := tx.Exec("CREATE TABLE plinth_migration (x)").Error
	if err == nil {
		err = tx.Exec("DROP TABLE plinth_migration").Error
	}
	if driver.KindOf(err) == driver.ReadOnly {
		return nil
	}
	return err
}
