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

// WithConn calls run with one connection of the pool of db, and with a handle on it, and
// then closes the connection instead of returning it to the pool: that releases a lock of
// its session, and resets what run has set. It is for a Migrator.
func WithConn(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB, conn *sql.Conn) error) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		conn, ok := tx.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("gorm's connection is a %T", tx.Statement.ConnPool)
		}
		// database/sql closes such a one
		defer func() { _ = conn.Raw(func(any) error { return sqldriver.ErrBadConn }) }()
		return run(tx, conn)
	})
}

// WaitForLock calls try, which does not wait itself, every tenth of a second until it
// reports that the lock is granted. The error is try's, that of ctx, or after a minute
// one of kind LockTimeout.
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
