package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// migrationWait is how long a migration waits for the lock before it says so.
const migrationWait = time.Minute

// Migrate implements driver.Migrator. gorm looks for a table and then creates it, so
// replicas that start together would create it twice: the whole migration is one
// transaction that takes the write lock first, and undoes all where it fails.
//
// Changing a column of SQLite rebuilds its table, and dropping the old one would delete
// what refers to it with ON DELETE CASCADE. So foreign keys are off meanwhile, on one
// connection; within a transaction SQLite ignores that.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) (err error) {
		steady := tx.Session(&gorm.Session{Context: untie(ctx)})
		on, err := foreignKeys(steady, "")
		if err != nil {
			return err
		}
		defer func() { // also after a panic, since the connection goes back into the pool
			_, back := foreignKeys(steady, fmt.Sprintf(" = %d", on))
			err = errors.Join(err, back)
		}()
		if _, err := foreignKeys(steady, " = OFF"); err != nil {
			return err
		}
		return alone(ctx, steady, run)
	})
}

// tie is the key of the context that a transaction's own one was made of.
type tie struct{}

// untie returns a context for a transaction that waits for its lock until ctx ends, but
// is not ended with it. database/sql ends a transaction from a goroutine of its own, and
// closes the connection then: who uses that one meanwhile finds it closed, or panics in
// sql.Conn. Its statements still end with ctx.
func untie(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), tie{}, ctx)
}

// tied returns the context that untie was given, or ctx.
func tied(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(tie{}).(context.Context); ok {
		return outer
	}
	return ctx
}

// TransactionalDDL implements driver.Migrator.
func (Driver) TransactionalDDL() bool { return true }

// foreignKeys reads or sets the pragma. It is a query, which waits for no writer.
func foreignKeys(db *gorm.DB, change string) (on int, err error) {
	err = db.Raw("PRAGMA foreign_keys" + change).Scan(&on).Error
	return on, err
}

// alone calls run in a transaction that has the write lock, and tries again while another
// one has it.
func alone(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
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

// lockNow takes the write lock for a transaction that has not taken it when it began,
// which a DSN may ask for, by a write that leaves nothing. A database that is read-only
// has no lock to take.
func lockNow(tx *gorm.DB) error {
	if d, ok := tx.Dialector.(*dialector); ok && locksAtOnce(d.DSN) {
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
