package replica

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// orPrimary wraps read with a retry on the primary if read failed on a replica before the
// first row, because the replica is unavailable or the statement writes.
func (r *Router) orPrimary(read func(*gorm.DB)) func(*gorm.DB) {
	return func(tx *gorm.DB) {
		s := tx.Statement
		replica := r.replicaOf(s.ConnPool)
		if replica == nil || tx.Error != nil {
			read(tx)
			return
		}
		rows, isRows := s.Settings.Load("rows") // gorm deletes it
		tx.RowsAffected = 0
		read(tx)
		err := readError(tx)
		if err == nil || s.Context.Err() != nil || !replica.failsOver(s.Context, err) ||
			tx.RowsAffected > 0 {
			return
		}
		if isRows {
			s.Settings.Store("rows", rows)
		}
		tx.Error = nil
		r.toPrimary(s)
		read(tx)
	}
}

// failsOver reports whether the primary may repeat a statement that failed with err. If
// err means that the replica is unusable, rather than that it rejected one statement,
// failsOver marks it as down.
func (r *Replica) failsOver(ctx context.Context, err error) bool {
	switch kind := r.Kind(err); {
	case kind == driver.ReadOnly, errors.Is(err, errNotPrepared),
		kind == driver.Authentication: // possibly a missing grant on one table
		return true
	case kind == driver.UnknownDatabase, kind != driver.LockTimeout && r.Transient(err):
		_ = r.down(ctx, err)
		return true
	default:
		return false
	}
}

// errNotPrepared replaces the error of a prepared statement, which gorm drops for a
// single row.
var errNotPrepared = errors.New("xdb: the statement could not be prepared")

// readError returns the error of a read. The error of a single row is in the row.
func readError(tx *gorm.DB) error {
	row, ok := tx.Statement.Dest.(*sql.Row)
	switch {
	case !ok || tx.Error != nil:
		return tx.Error
	case *row == sql.Row{}:
		return errNotPrepared
	default:
		return row.Err()
	}
}
