package sqlserver

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// lock asks for a lock of the database that the session holds until it ends. The
	// answer is below 0 if it has not got it.
	lock = "DECLARE @answer int; EXEC @answer = sp_getapplock @Resource = N'plinth:migration', @LockMode = 'Exclusive', " +
		"@LockOwner = 'Session', @LockTimeout = 0; SELECT @answer"
	lockTimedOut = -1
)

// Migrate implements driver.Migrator. gorm looks for a table and then creates it, so
// replicas that start together would create it twice: run has one connection, whose
// session holds a lock of the database. Afterwards the connection is closed.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return driver.WithConn(ctx, db, func(tx *gorm.DB, conn *sql.Conn) error {
		if err := driver.WaitForLock(ctx,
			func() (bool, error) { return tryLock(ctx, conn) }); err != nil {
			return err
		}
		return run(tx)
	})
}

func tryLock(ctx context.Context, conn *sql.Conn) (bool, error) {
	var answer int
	switch err := conn.QueryRowContext(ctx, lock).Scan(&answer); {
	case err != nil:
		return false, driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
	case answer < 0 && answer != lockTimedOut:
		return false, fmt.Errorf("sqlserver: lock for the migration: sp_getapplock answered %d",
			answer)
	default:
		return answer >= 0, nil
	}
}
