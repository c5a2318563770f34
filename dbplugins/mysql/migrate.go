package mysql

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// lockQuery acquires a server-wide lock, so its name identifies the database. The name is
// hashed because a lock name is limited to 64 characters.
const lockQuery = "SELECT GET_LOCK(CONCAT('plinth.migration.', SHA1(IFNULL(DATABASE(), ''))), 0)"

var errNoLock = errors.New("mysql: acquire the migration lock: GET_LOCK returned NULL")

// Migrate implements driver.Migrator. The lock belongs to a connection, which is closed
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
	err := conn.QueryRowContext(ctx, lockQuery).Scan(&granted)
	if err == nil && !granted.Valid {
		err = errNoLock
	}
	return granted.Bool, err
}
