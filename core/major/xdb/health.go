package xdb

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// CheckHealth pings the server. If all connections of the pool are in use, it opens another
// one, so that a saturated pool is not mistaken for a server that is down. (A database
// that was opened with a dialector of the application has only the pool.) If the server
// rejects that connection because of its limit, it has responded and serves the pool: then
// CheckHealth returns nil too. A replica that is down does not make it fail: the primary
// serves its reads.
func CheckHealth(ctx context.Context, db *gorm.DB) error {
	info := dbconn.Of(db)
	if info.Driver == nil {
		return ping(ctx, db)
	}
	err := check(ctx, info, db)
	if err != nil && stats(db).InUse > 0 && info.Kind(err) == driver.TooManyConnections {
		return nil
	}
	return err
}

func ping(ctx context.Context, db *gorm.DB) error {
	if err := dbconn.Ping(ctx, db); err != nil {
		return fmt.Errorf("xdb: ping: %w", err)
	}
	return nil
}

// check pings on a connection of the pool if one is free, else on another one.
func check(ctx context.Context, info *dbconn.Info, db *gorm.DB) error {
	if !Saturated(db) {
		err := pingSoon(ctx, db)
		if err == nil || !Saturated(db) {
			return err
		}
	}
	return info.Probe(ctx)
}

// Saturated reports whether all connections that the pool may have are in use, so that
// statements wait for one. A pool without a limit never is.
func Saturated(db *gorm.DB) bool { return exhausted(stats(db)) }

// exhausted is Saturated for what a pool says of itself.
func exhausted(s sql.DBStats) bool {
	return s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections
}

// stats returns those of the pool.
func stats(db *gorm.DB) (s sql.DBStats) {
	if pool, err := db.DB(); err == nil {
		s = pool.Stats()
	}
	return s
}

// pingSoon pings in half of the time that ctx has, which leaves the rest for another connection.
func pingSoon(ctx context.Context, db *gorm.DB) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return ping(ctx, db)
}

// probe opens one connection, which pings the server, and closes it.
func (t *target) probe(ctx context.Context) error {
	db, err := t.attempt(ctx, Options{MaxOpenConns: 1, MaxIdleConns: 1}.withDefaults())
	if err != nil {
		return fmt.Errorf("xdb: ping: %w", t.Redact(err))
	}
	return dbconn.Close(db)
}
