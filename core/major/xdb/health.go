package xdb

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// CheckHealth asks the server for an answer. It asks on a connection of its own if the pool has none
// left, so that a pool whose connections are all at work is not taken for a server that is down. (A
// database that was opened with a dialector of the application's own has only the pool.) A replica
// that is down does not make it fail: the server answers the reads.
func CheckHealth(ctx context.Context, db *gorm.DB) error {
	t := originOf(db).target
	if t.driver == nil {
		return ping(ctx, db)
	}
	if !Saturated(db) {
		err := pingSoon(ctx, db)
		if err == nil || !Saturated(db) {
			return err
		}
	}
	return t.probe(ctx)
}

// Saturated reports whether all connections that the pool may have are in use, so that statements wait
// for one. A pool without a limit never is.
func Saturated(db *gorm.DB) bool {
	pool, err := db.DB()
	if err != nil {
		return false
	}
	stats := pool.Stats()
	return stats.MaxOpenConnections > 0 && stats.InUse >= stats.MaxOpenConnections
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
		return fmt.Errorf("xdb: ping: %w", t.secrets.scrub(err, t.kindOf(err)))
	}
	return closePool(db)
}
