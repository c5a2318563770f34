// Package dbconn attaches the connection data of xdb.Open to a *gorm.DB, for packages
// that receive only the *gorm.DB: migrations, replicas, leases and system tables.
package dbconn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// OwnDrivers are the names of the drivers of this repository.
var OwnDrivers = []string{"mysql", "oracle", "postgres", "sqlite", "sqlserver"}

// Info describes an open database. It is immutable after Open.
type Info struct {
	Name     string        // of the driver, or of the dialector
	Where    string        // host, port and database name for display, without a secret; may be ""
	Driver   driver.Driver // nil: the database was opened with a Dialector
	Drivers  []string      // valid driver names in migration files
	Variable xenv.EnvKey   // the variable that selects the database; "" if several do
	Secrets  Secrets
	Log      *xlog.LogNamedLogger

	// Probe opens one connection and closes it. It is nil if Driver is nil.
	Probe func(ctx context.Context) error
}

// plugin attaches an Info to a *gorm.DB.
type plugin struct{ *Info }

const pluginName = "plinth:info"

// Name implements gorm.Plugin.
func (plugin) Name() string { return pluginName }

// Initialize implements gorm.Plugin.
func (plugin) Initialize(*gorm.DB) error { return nil }

// Plugin returns the gorm plugin from which Of reads i.
func (i *Info) Plugin() gorm.Plugin { return plugin{i} }

// Of returns the Info of db. If xdb.Open did not open db, the Info has no driver.
func Of(db *gorm.DB) *Info {
	if p, ok := db.Plugins[pluginName].(plugin); ok {
		return p.Info
	}
	return &Info{Name: db.Name(), Drivers: OwnDrivers, Log: xlog.WithName(xlog.NamedDATA)}
}

// String returns the driver and the location of the database.
func (i *Info) String() string {
	if i.Where == "" {
		return i.Name
	}
	return i.Name + " " + i.Where
}

// Setting returns the variable that selects the database, formatted for an error, or "".
func (i *Info) Setting() string {
	if i.Variable == "" {
		return ""
	}
	return " (" + string(i.Variable) + ")"
}

// Kind returns the kind of an error of this database.
func (i *Info) Kind(err error) driver.ErrorKind {
	if kind := driver.KindOf(err); kind != driver.Unknown || i.Driver == nil {
		return kind
	}
	return i.Driver.ErrorKind(err)
}

// Clock returns the clock of the database, or an error with the reason why it has none.
func (i *Info) Clock() (driver.Clock, error) {
	clock, ok := i.Driver.(driver.Clock)
	switch {
	case ok:
		return clock, nil
	case i.Driver == nil:
		return nil, fmt.Errorf("this %s database was not opened by the name of a driver", i.Name)
	default:
		return nil, fmt.Errorf("the driver %s has no clock", i.Name)
	}
}

// Redact returns err if its text contains no secret of the connection, else an error with
// only the redacted text and the kind.
func (i *Info) Redact(err error) error {
	text := err.Error()
	clean := i.Secrets.text(text)
	if clean == text {
		return err
	}
	kind := i.Kind(err)
	return driver.Translate(kind, errors.New(clean), strings.TrimPrefix(clean, kind.String()+": "))
}

// Fail wraps the error of a schema operation without secrets. If the database does not
// exist or is read-only, the error names the variable that selects the database.
func (i *Info) Fail(operation string, err error) error {
	if err == nil {
		return nil
	}
	if kind := i.Kind(err); kind == driver.UnknownDatabase || kind == driver.ReadOnly {
		operation += i.Setting()
	}
	return fmt.Errorf("xdb: %s: %w", operation, i.Redact(err))
}
