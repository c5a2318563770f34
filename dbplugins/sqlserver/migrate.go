package sqlserver

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// lock acquires an application lock of the session. The result is negative if the
	// lock was not granted.
	lock = "DECLARE @answer int; " +
		"EXEC @answer = sp_getapplock @Resource = N'plinth:migration', @LockMode = 'Exclusive', " +
		"@LockOwner = 'Session', @LockTimeout = 0; SELECT @answer"
	lockTimedOut = -1
)

// Migrate implements driver.Migrator. It passes one connection to run, whose session
// holds an application lock of the database. The lock serializes replicas, because gorm
// checks for a table before it creates the table. The connection is closed afterwards.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return driver.WithConn(ctx, db, func(tx *gorm.DB, conn *sql.Conn) error {
		err := driver.WaitForLock(ctx, func() (bool, error) { return tryLock(ctx, conn) })
		if err != nil {
			return err
		}
		return run(tx)
	})
}

func tryLock(ctx context.Context, conn *sql.Conn) (bool, error) {
	var result int
	switch err := conn.QueryRowContext(ctx, lock).Scan(&result); {
	case err != nil:
		return false, driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
	case result < 0 && result != lockTimedOut:
		return false, fmt.Errorf("sqlserver: acquire the migration lock: sp_getapplock returned %d",
			result)
	default:
		return result >= 0, nil
	}
}
