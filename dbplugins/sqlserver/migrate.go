package sqlserver

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// lockTries is how often a migration asks for the lock, a second each time, before it says that it waits.
	lockTries = 60

	// lock asks for a lock of the database that the session holds until it ends. The answer is below 0 where it has not got it.
	lock = "DECLARE @answer int; EXEC @answer = sp_getapplock @Resource = N'plinth:migration', @LockMode = 'Exclusive', " +
		"@LockOwner = 'Session', @LockTimeout = 1000; SELECT @answer"
	lockTimedOut = -1
)

// Migrate implements driver.Migrator. gorm looks for a table and then creates it, so replicas that start together would create
// it twice: run has one connection, whose session holds a lock of the database. Afterwards the connection is closed.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		only, ok := tx.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("sqlserver: migration: %T is no connection", tx.Statement.ConnPool)
		}
		defer func() { _ = only.Raw(func(any) error { return sqldriver.ErrBadConn }) }() // closes it
		if err := lockSession(ctx, only); err != nil {
			return err
		}
		return run(tx)
	})
}

// lockSession waits for the lock.
func lockSession(ctx context.Context, only *sql.Conn) error {
	answer := lockTimedOut
	for try := 0; try < lockTries && answer == lockTimedOut; try++ {
		if err := only.QueryRowContext(ctx, lock).Scan(&answer); err != nil {
			return driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
		}
	}
	if answer >= 0 {
		return nil
	}
	err := fmt.Errorf("sp_getapplock answered %d", answer)
	if answer == lockTimedOut {
		return driver.Translate(driver.LockTimeout, err, "another process migrates")
	}
	return fmt.Errorf("sqlserver: lock for the migration: %w", err)
}
