package dbconn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Ping checks that the server responds.
func Ping(ctx context.Context, db *gorm.DB) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	return pool.PingContext(ctx)
}

// Close closes the pool of db.
func Close(db *gorm.DB) error {
	if pool, err := db.DB(); err == nil { // otherwise there is no pool
		if err := pool.Close(); err != nil {
			return fmt.Errorf("xdb: close: %w", err)
		}
	}
	return nil
}

// Transient reports whether a retry may succeed after err.
func (i *Info) Transient(err error) bool {
	if kind := i.Kind(err); kind != driver.Unknown {
		return kind == driver.Connection || kind == driver.TooManyConnections ||
			kind == driver.LockTimeout
	}
	_, network := errors.AsType[net.Error](err)
	// The error of a file, such as a certificate, contains an errno. That is a net.Error
	// too.
	_, file := errors.AsType[*fs.PathError](err)
	return network && !file || driver.KindOf(driver.TranslateNetwork(err)) == driver.Connection
}

// CheckHealth pings the server of db. If all connections of the pool are in use, it opens
// another one, so that a saturated pool is not mistaken for an unavailable server. A
// server that rejects that connection because of its limit has responded and counts as
// healthy.
func (i *Info) CheckHealth(ctx context.Context, db *gorm.DB) error {
	if i.Driver == nil {
		return ping(ctx, db)
	}
	err := i.check(ctx, db)
	if err != nil && stats(db).InUse > 0 && i.Kind(err) == driver.TooManyConnections {
		return nil
	}
	return err
}

func (i *Info) check(ctx context.Context, db *gorm.DB) error {
	if !Saturated(db) {
		err := pingSoon(ctx, db)
		if err == nil || !Saturated(db) {
			return err
		}
	}
	return i.Probe(ctx)
}

func ping(ctx context.Context, db *gorm.DB) error {
	if err := Ping(ctx, db); err != nil {
		return fmt.Errorf("xdb: ping: %w", err)
	}
	return nil
}

// pingSoon pings with half of the remaining time of ctx, which leaves the rest for a new
// connection.
func pingSoon(ctx context.Context, db *gorm.DB) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return ping(ctx, db)
}

// Saturated implements xdb.Saturated.
func Saturated(db *gorm.DB) bool { return Exhausted(stats(db)) }

// Exhausted is Saturated for the statistics of a pool.
func Exhausted(s sql.DBStats) bool {
	return s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections
}

func stats(db *gorm.DB) (s sql.DBStats) {
	if pool, err := db.DB(); err == nil {
		s = pool.Stats()
	}
	return s
}
