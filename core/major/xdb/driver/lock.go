package driver

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xretry"
)

const (
	// lockWait is the time after which WaitForLock returns a LockTimeout.
	lockWait = time.Minute
	// lockPause is the time between two attempts.
	lockPause = 100 * time.Millisecond
)

var errHeld = errors.New("another process has held the lock for more than " + lockWait.String())

// WithConn calls run with one connection of the pool of db and a handle bound to it. It
// then closes the connection instead of returning it to the pool, which releases session
// locks and resets session settings. Use it to implement Migrator.
func WithConn(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB, conn *sql.Conn) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		conn, ok := tx.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("gorm's connection is a %T", tx.Statement.ConnPool)
		}
		// ErrBadConn makes database/sql close the connection.
		defer func() { _ = conn.Raw(func(any) error { return sqldriver.ErrBadConn }) }()
		return run(tx, conn)
	})
}

// WaitForLock calls try every 100 ms until it reports that the lock is granted. try must
// not block. WaitForLock returns the error of try, the error of ctx, or after one minute
// an error of kind LockTimeout.
func WaitForLock(ctx context.Context, try func() (granted bool, err error)) error {
	for start := time.Now(); ; {
		granted, err := try()
		switch {
		case err != nil || granted:
			return err
		case time.Since(start) >= lockWait:
			return Translate(LockTimeout, errHeld, errHeld.Error())
		}
		if err := xretry.Sleep(ctx, lockPause); err != nil {
			return err
		}
	}
}
