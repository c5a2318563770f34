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

// Transient reports whether waiting can fix err.
func Transient(err error, kind driver.ErrorKind) bool {
	if kind != driver.Unknown {
		return kind == driver.Connection || kind == driver.TooManyConnections || kind == driver.LockTimeout
	}
	var network net.Error
	var file *fs.PathError // of a certificate, for example; its errno is a net.Error too
	return driver.KindOf(driver.TranslateNetwork(err)) == driver.Connection || errors.As(err, &network) && !errors.As(err, &file)
}
