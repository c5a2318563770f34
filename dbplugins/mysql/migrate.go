package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// migrationWait is how long a migration waits for the lock before it says so.
	migrationWait = time.Minute

	// takeLock asks for a lock of the server, so its name says which database it is for. The server takes 64 characters of
	// it, which is as much as a database may have alone.
	takeLock = "SELECT GET_LOCK(CONCAT('plinth.migration.', SHA1(IFNULL(DATABASE(), ''))), 1)"
)

var (
	errNotGranted = errors.New("another process holds the lock of migrations")
	errNoLock     = errors.New("mysql: the server cannot give the lock of migrations")
)

// Migrate implements driver.Migrator. The lock is a connection's, which is closed afterwards.
func (Driver) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		conn, ok := tx.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("mysql: a migration needs a connection, not a %T", tx.Statement.ConnPool)
		}
		defer func() {
			_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn }) // which closes it
		}()
		if err := lock(ctx, conn, migrationWait); err != nil {
			return (&dialector{}).Translate(err)
		}
		return run(tx)
	})
}

// lock asks for the lock again and again, for a second each time.
func lock(ctx context.Context, conn *sql.Conn, patience time.Duration) error {
	for start := time.Now(); ; {
		var granted sql.NullBool
		switch err := conn.QueryRowContext(ctx, takeLock).Scan(&granted); {
		case err != nil:
			return err
		case !granted.Valid:
			return errNoLock
		case granted.Bool:
			return nil
		case time.Since(start) >= patience:
			return driver.Translate(driver.LockTimeout, errNotGranted, errNotGranted.Error())
		}
	}
}
