package replica

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

const (
	// checkPause is the time between two checks of a replica. A replica that recovered
	// stays unused for at most this long.
	checkPause = 5 * time.Second
	// checkTimeout limits one check: half of it is for a pooled connection and, if all of
	// those are in use, the rest for a new one. A slower replica is down.
	checkTimeout = 3 * time.Second
)

// The states of a replica. The zero value is neither, so the first check is always
// logged.
const (
	stateUp int32 = iota + 1
	stateDown
)

// Replica is a copy of the database that serves reads. Info and Connect must be set.
type Replica struct {
	*dbconn.Info

	// Connect attempts to connect once.
	Connect func(ctx context.Context) (*gorm.DB, error)

	db    atomic.Pointer[gorm.DB] // nil until Connect succeeds
	state atomic.Int32
}

// watch checks the replica until ctx is done.
func (r *Replica) watch(ctx context.Context) {
	for xretry.Sleep(ctx, checkPause) == nil {
		_ = r.check(ctx)
	}
}

// check pings the replica and records whether it responded. It returns permanent errors,
// such as a wrong password or an invalid DSN, and the cause if ctx ended.
func (r *Replica) check(ctx context.Context) error {
	err := r.ping(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		clean := r.down(ctx, err)
		if r.Transient(err) {
			return nil
		}
		return clean
	}
	if r.state.Swap(stateUp) != stateUp {
		r.Log.Info(ctx, "database replica is up",
			slog.String("driver", r.Name), slog.String("at", r.Where))
	}
	return nil
}

func (r *Replica) ping(ctx context.Context) error {
	if db := r.db.Load(); db != nil {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return r.CheckHealth(ctx, db)
	}
	db, err := r.Connect(ctx)
	if err == nil {
		r.db.Store(db)
	}
	return err
}

// down marks the replica as down until a check succeeds, and returns err without secrets.
func (r *Replica) down(ctx context.Context, err error) error {
	err = r.Redact(err)
	if r.state.Swap(stateDown) != stateDown {
		r.Log.Warn(ctx, "database replica is down",
			slog.String("driver", r.Name),
			slog.String("at", r.Where), slog.String("error", err.Error()))
	}
	return err
}

// close closes the pool. The checks must have stopped.
func (r *Replica) close() error {
	db := r.db.Load()
	if db == nil {
		return nil
	}
	if err := dbconn.Close(db); err != nil {
		return fmt.Errorf("xdb: replica %s: %w", r, err)
	}
	return nil
}
