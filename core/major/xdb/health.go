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

// CheckHealth asks the server for an answer. It asks on a connection of its own if the pool has none
// left, so that a pool whose connections are all at work is not taken for a server that is down. (A
// database that was opened with a dialector of the application's own has only the pool.) A server that
// refuses another connection because its limit is reached has responded, and serves those of the pool
// that are at work: then CheckHealth returns nil too. A replica that is down does not make it fail: the
// server answers the reads.
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

// check asks on a connection of the pool if it has one left, else on one of its own.
func check(ctx context.Context, info *dbconn.Info, db *gorm.DB) error {
	if !Saturated(db) {
		err := pingSoon(ctx, db)
		if err == nil || !Saturated(db) {
			return err
		}
	}
	return info.Probe(ctx)
}

// Saturated reports whether all connections that the pool may have are in use, so that statements wait
// for one. A pool without a limit never is.
func Saturated(db *gorm.DB) bool {
	s := stats(db)
	return s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections
}

// stats returns those of the pool.
func stats(db *gorm.DB) sql.DBStats {
	pool, err := db.DB()
	if err != nil {
		return sql.DBStats{}
	}
	return pool.Stats()
}

// pingSoon pings in half of the time that ctx has, which leaves the rest to a connection of its own.
func pingSoon(ctx context.Context, db *gorm.DB) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return ping(ctx, db)
}

// probe opens one connection, which asks the server for an answer, and closes it.
func (t *target) probe(ctx context.Context) error {
	db, err := t.attempt(ctx, Options{MaxOpenConns: 1, MaxIdleConns: 1}.withDefaults())
	if err != nil {
		return fmt.Errorf("xdb: ping: %w", t.Redact(err))
	}
	return dbconn.Close(db)
}
