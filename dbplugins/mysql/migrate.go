package mysql

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// takeLock asks for a lock of the server, so its name says which database it is for. The
// server takes 64 characters of it, which is as much as a database may have alone.
const takeLock = "SELECT GET_LOCK(CONCAT('plinth.migration.', SHA1(IFNULL(DATABASE(), ''))), 0)"

var errNoLock = errors.New("mysql: the server cannot give the lock of migrations")

// Migrate implements driver.Migrator. The lock is a connection's, which is closed
// afterwards.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return driver.WithConn(ctx, db, func(tx *gorm.DB, conn *sql.Conn) error {
		err := driver.WaitForLock(ctx, func() (bool, error) { return tryLock(ctx, conn) })
		if err != nil {
			return (&dialector{}).Translate(err)
		}
		return run(tx)
	})
}

func tryLock(ctx context.Context, conn *sql.Conn) (bool, error) {
	var granted sql.NullBool
	err := conn.QueryRowContext(ctx, takeLock).Scan(&granted)
	if err == nil && !granted.Valid {
		err = errNoLock
	}
	return granted.Bool, err
}
