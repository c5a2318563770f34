package plugin

import (
	"fmt"
	"reflect"
)

// core is the import path of the module core.
const core = "github.com/plinthgo/plinth/core"

// defaultVersion is the interface version of a driver that does not implement Versioned.
const defaultVersion = 1

// Versioned is implemented by a driver to declare the version of the interface that it
// implements.
type Versioned interface{ InterfaceVersion() int }

// checkVersion returns an error if d was written for another version of the interface.
// The error contains both versions and the command that upgrades the older module.
func (f Family) checkVersion(d Named) error {
	have := defaultVersion
	if v, ok := d.(Versioned); ok {
		have = v.InterfaceVersion()
	}
	if have == f.Interface {
		return nil
	}
	path := PackageOf(d)
	outdated := path
	if have > f.Interface {
		outdated = core
	}
	return fmt.Errorf("%w: %q of %s was written for version %d of the driver interface, "+
		"and %s has version %d: run `go get %s@latest`",
		f.Mismatch, d.Name(), path, have, core, f.Interface, outdated)
}

// PackageOf returns the import path of the package that declares the type of v. It
// dereferences pointer types.
func PackageOf(v any) string {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
