package xdb

import (
	"errors"
	"io"
	"slices"

	"github.com/plinthgo/plinth/core/internal/plugin"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

var (
	// ErrUnknownDriver reports that no registered driver has the requested name.
	ErrUnknownDriver = errors.New("unsupported database driver")
	// ErrInterface reports that the driver implements another version of the driver
	// interface.
	ErrInterface = errors.New("incompatible database driver")
)

var family = plugin.Family{
	Package: "xdb",
	Root:    "github.com/plinthgo/plinth/dbplugins/",
	Own:     dbconn.OwnDrivers,
	Unknown: ErrUnknownDriver,

	Interface: driver.InterfaceVersion,
	Mismatch:  ErrInterface,
}

// Registry finds drivers by name. The zero value is empty and ready to use.
type Registry struct{ drivers plugin.Set[driver.Driver] }

// defaultRegistry contains the drivers that imported plugins register.
var defaultRegistry Registry

// Register adds d to the default registry. Plugins call it from init.
func Register(d driver.Driver) { defaultRegistry.Register(d) }

// Drivers returns the names of the imported drivers, sorted.
func Drivers() []string { return defaultRegistry.Drivers() }

// Register adds d. It panics if the name is empty or already registered.
func (r *Registry) Register(d driver.Driver) { r.drivers.Add(family, d) }

// Drivers returns the names of the registered drivers, sorted.
func (r *Registry) Drivers() []string { return r.drivers.Names() }

// known returns the valid driver names of migration files.
func (r *Registry) known() []string { return slices.Concat(family.Own, r.Drivers()) }

// kindOf classifies an error that did not pass through gorm. It tries every driver.
func (r *Registry) kindOf(err error) driver.ErrorKind {
	for _, d := range r.drivers.All() {
		if k := d.ErrorKind(err); k != driver.Unknown && !unreliable(d, k, err) {
			return k
		}
	}
	return driver.Unknown
}

// unreliable reports whether the kind k of err is unreliable, because d classifies every
// broken connection of the process as one of its database.
func unreliable(d driver.Driver, k driver.ErrorKind, err error) bool {
	return k == driver.Connection &&
		driver.KindOf(driver.TranslateNetwork(err)) == driver.Connection &&
		d.ErrorKind(io.EOF) == driver.Connection
}
