// Package systable supports components that store data in a table of the application's
// database, such as a job queue.
package systable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// ErrUnsupported reports a database without a clock.
var ErrUnsupported = errors.New("systable: not supported")

// Clock returns the clock of the database, for times that several processes compare. The
// error is ErrUnsupported if the driver has no clock, or if db was opened without a
// driver name.
func Clock(db *gorm.DB) (driver.Clock, error) {
	clock, err := dbconn.Of(db).Clock()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return clock, nil
}

// Create creates the table of model with its indexes if it is missing: once, even if
// several processes call it concurrently. This requires the privilege to create tables.
// If the privilege is missing, the error contains the statements. Create does not change
// an existing table.
func Create(ctx context.Context, db *gorm.DB, model any) error {
	info := dbconn.Of(db)
	ctx = dbconn.WithPrimary(ctx)
	db = db.Session(&gorm.Session{NewDB: true, Logger: logger.Discard, Context: ctx})
	if db.Migrator().HasTable(model) {
		return nil
	}
	// gorm reports a missing table if the database does not respond
	if err := dbconn.Ping(ctx, db); err != nil {
		return info.Redact(err)
	}
	err := info.Lock(ctx, db, func(tx *gorm.DB) error {
		if tx.Migrator().HasTable(model) {
			return nil
		}
		return tx.Migrator().CreateTable(model)
	})
	if err != nil {
		return fmt.Errorf("the table %s is missing and could not be created; create it with %s; %w",
			nameOf(db, model), Definition(db, model), info.Redact(err))
	}
	return nil
}

func nameOf(db *gorm.DB, model any) string {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(model); err != nil {
		return err.Error()
	}
	return stmt.Schema.Table
}

// Definition returns the statements that create the table of model.
func Definition(db *gorm.DB, model any) string {
	var recorded statements
	dry := db.Session(&gorm.Session{NewDB: true, DryRun: true, Logger: &recorded})
	_ = dry.Migrator().CreateTable(model) // nothing is sent
	return strings.Join(recorded.all, "; ")
}

// statements is a logger that records the statements.
type statements struct {
	logger.Interface

	all []string
}

// LogMode implements logger.Interface.
func (s *statements) LogMode(logger.LogLevel) logger.Interface { return s }

// Trace implements logger.Interface.
func (s *statements) Trace(
	_ context.Context, _ time.Time, statement func() (sql string, rows int64), _ error,
) {
	sql, _ := statement()
	s.all = append(s.all, sql)
}
