package dbconn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"

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
	pool, err := db.DB()
	if errors.Is(err, gorm.ErrInvalidDB) {
		return nil // it never had a pool
	}
	if err != nil {
		return fmt.Errorf("xdb: pool: %w", err)
	}
	if err := pool.Close(); err != nil {
		return fmt.Errorf("xdb: close: %w", err)
	}
	return nil
}

// Transient reports whether waiting can fix an error of this database.
func (i *Info) Transient(err error) bool {
	if kind := i.Kind(err); kind != driver.Unknown {
		return kind == driver.Connection || kind == driver.TooManyConnections || kind == driver.LockTimeout
	}
	_, network := errors.AsType[net.Error](err)
	_, file := errors.AsType[*fs.PathError](err) // of a certificate, for example; its errno is a net.Error too
	return network && !file || driver.KindOf(driver.TranslateNetwork(err)) == driver.Connection
}
