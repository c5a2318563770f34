package plugin

import (
	"fmt"
	"reflect"
)

// core is the import path of this module.
const core = "github.com/plinthgo/plinth/core"

// first is the version of the interface for which a driver was written that does not say.
const first = 1

// Versioned is a driver that says for which version of its family's interface it was
// written.
type Versioned interface{ InterfaceVersion() int }

// fits refuses a driver that was written for another version of the interface. The error
// has both versions and the command that mends it: the older side has to follow.
func (f Family) fits(d Named) error {
	have := first
	if v, ok := d.(Versioned); ok {
		have = v.InterfaceVersion()
	}
	if have == f.Interface {
		return nil
	}
	path := PackageOf(d)
	behind := path
	if have > f.Interface {
		behind = core
	}
	return fmt.Errorf("%w: %q of %s was written for version %d of the driver interface, and %s has version %d: run `go get %s@latest`",
		f.Mismatch, d.Name(), path, have, core, f.Interface, behind)
}

// PackageOf returns the import path of the package that declares the type of v, or the
// type that v points to.
func PackageOf(v any) string {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
