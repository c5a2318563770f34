// Package xoptdatabase contains the most common options of package xdb under the names
// that the specification requires.
//
//	xoption.WithDatabase(
//		xoptdatabase.FromEnv(),
//		xoptdatabase.WithAutoMigrate(&entity.User{}),
//		xoptdatabase.WithMigrations(migrations.Files),
//		xoptdatabase.WithPrepare(prepare.Roles),
//	)
//
// They can be combined with any other option of xdb.
package xoptdatabase

import (
	"io/fs"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// Option is xdb.Option.
type Option = xdb.Option

// FromEnv is xdb.FromEnv.
func FromEnv() Option { return xdb.FromEnv() }

// WithDriver is xdb.WithDriver.
func WithDriver(name, dsn string) Option { return xdb.WithDriver(name, dsn) }

// WithDialector is xdb.WithDialector.
func WithDialector(d gorm.Dialector) Option { return xdb.WithDialector(d) }

// WithTablePrefix is xdb.WithTablePrefix.
func WithTablePrefix(prefix string) Option { return xdb.WithTablePrefix(prefix) }

// WithMaxOpenConns is xdb.WithMaxOpenConns.
func WithMaxOpenConns(n int) Option { return xdb.WithMaxOpenConns(n) }

// WithAutoMigrate is xdb.WithAutoMigrate.
func WithAutoMigrate(entities ...any) Option { return xdb.WithAutoMigrate(entities...) }

// WithMigrations is xdb.WithMigrations.
func WithMigrations(files fs.FS) Option { return xdb.WithMigrations(files) }

// WithPrepare is xdb.WithPrepare.
func WithPrepare[F xdb.PrepareFunc](fns ...F) Option { return xdb.WithPrepare(fns...) }

// WithSlowThreshold is xdb.WithSlowThreshold.
func WithSlowThreshold[D time.Duration | int | int64](d D) Option {
	return xdb.WithSlowThreshold(d)
}

// WithLogger is xdb.WithLogger.
func WithLogger(log *xlog.LogNamedLogger) Option { return xdb.WithLogger(log) }
