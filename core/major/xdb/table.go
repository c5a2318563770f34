package xdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ErrUnsupported reports what the driver of a database cannot do.
var ErrUnsupported = errors.New("xdb: not supported")

// Clock returns the clock of the database itself, for what is decided between processes. The error is ErrUnsupported where
// its driver has none, or where db was not opened by a driver's name.
func Clock(db *gorm.DB) (driver.Clock, error) {
	t := originOf(db).target
	if t.driver == nil {
		return nil, fmt.Errorf("%w: this %s database was not opened by the name of a driver", ErrUnsupported, db.Name())
	}
	clock, ok := t.driver.(driver.Clock)
	if !ok {
		return nil, fmt.Errorf("%w: the driver %s has no clock", ErrUnsupported, t.name)
	}
	return clock, nil
}

// CreateTable creates the table of model where it is missing, with its indexes: once, however many processes do so at the same
// moment. The right to create a table is needed only then; where it is missing the error holds the statement. An existing
// table stays as it is.
func CreateTable(ctx context.Context, db *gorm.DB, model any) error {
	err := originOf(db).createTable(WithPrimary(ctx), db.Session(&gorm.Session{NewDB: true, Logger: logger.Discard}), model)
	if err != nil {
		return fmt.Errorf("xdb: %w", err)
	}
	return nil
}

func (o *origin) createTable(ctx context.Context, db *gorm.DB, model any) error {
	db = db.WithContext(ctx)
	if db.Migrator().HasTable(model) {
		return nil
	}
	err := ping(ctx, db) // gorm takes a database that does not answer for one without the table
	if err != nil {
		return o.target.secrets.scrub(err, o.target.kindOf(err))
	}
	err = o.target.migrate(ctx, db, o.log, func(tx *gorm.DB) error {
		if tx.Migrator().HasTable(model) {
			return nil
		}
		return tx.Migrator().CreateTable(model)
	})
	if err != nil {
		return fmt.Errorf("the table %s is missing and could not be created; create it with %s; %w",
			tableOf(db, model), definition(db, model), o.target.secrets.scrub(err, o.target.kindOf(err)))
	}
	return nil
}

func tableOf(db *gorm.DB, model any) string {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(model); err != nil {
		return err.Error()
	}
	return stmt.Schema.Table
}

// definition returns the statements that create the table of model.
func definition(db *gorm.DB, model any) string {
	var told statements
	dry := db.Session(&gorm.Session{NewDB: true, DryRun: true, Logger: &told})
	_ = dry.Migrator().CreateTable(model) // nothing is sent
	return strings.Join(told.all, "; ")
}

// statements is a logger that keeps the statements.
type statements struct {
	logger.Interface

	all []string
}

// LogMode implements logger.Interface.
func (s *statements) LogMode(logger.LogLevel) logger.Interface { return s }

// Trace implements logger.Interface.
func (s *statements) Trace(_ context.Context, _ time.Time, statement func() (sql string, rows int64), _ error) {
	sql, _ := statement()
	s.all = append(s.all, sql)
}
