package dbconn

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// lockPause is the pause between two attempts to acquire the lock. A driver also waits
// within each attempt.
const lockPause = time.Second

// Lock calls run, which changes the schema, on the primary with the lock and the state
// that the driver requires. It waits for the lock until ctx is done, because another
// process may need a long time for its schema change.
func (i *Info) Lock(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	ctx = WithPrimary(ctx)
	m, ok := i.Driver.(driver.Migrator)
	if !ok {
		return run(db.WithContext(ctx))
	}
	for {
		locked := false
		err := m.Migrate(ctx, db, func(tx *gorm.DB) error {
			locked = true
			// a new session, because gorm's Connection accumulates conditions in its
			// handle
			return run(tx.Session(&gorm.Session{NewDB: true}))
		})
		if locked || i.Kind(err) != driver.LockTimeout {
			return err
		}
		err = i.Redact(err)
		i.Log.Warn(ctx, "waiting for a migration of another process",
			slog.String("error", err.Error()))
		if xretry.Sleep(ctx, lockPause) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
