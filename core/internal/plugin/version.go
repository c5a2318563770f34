package plugin

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
)

// core is the import path of this module.
const core = "github.com/plinthgo/plinth/core"

// first is the version of the interface for which a driver was written that does not say.
const first = 1

// Versioned is a driver that says for which version of its family's interface it was written.
type Versioned interface{ InterfaceVersion() int }

// fits refuses a driver that was written for another version of the interface. The error has both versions, those of the two
// modules where the program was built with them, and the command that mends it: the older side has to follow.
func (f Family) fits(d Named) error {
	have := first
	if v, ok := d.(Versioned); ok {
		have = v.InterfaceVersion()
	}
	if have == f.Interface {
		return nil
	}
	path := home(d)
	behind := path
	if have > f.Interface {
		behind = core
	}
	info, _ := debug.ReadBuildInfo()
	plugin, version := module(info, path)
	if behind == path {
		behind = plugin
	}
	_, ours := module(info, core)
	return fmt.Errorf("%w: %q of %s was written for version %d of the driver interface, and %s has version %d: run `go get %s@latest`",
		f.Mismatch, d.Name(), strings.TrimSpace(plugin+" "+version), have, strings.TrimSpace(core+" "+ours), f.Interface, behind)
}

// home is the import path of the package that declares the driver.
func home(d Named) string {
	t := reflect.TypeOf(d)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// module returns the module that holds a package, and its version where the program was built with one. Where that cannot be
// told, it is the package itself, which go get takes as well.
func module(info *debug.BuildInfo, pkg string) (path, version string) {
	path = pkg
	if info == nil {
		return path, ""
	}
	longest := 0
	for _, dep := range info.Deps {
		if inside(pkg, dep.Path) && len(dep.Path) > longest {
			longest, path, version = len(dep.Path), dep.Path, dep.Version
		}
	}
	return path, version
}

func inside(pkg, module string) bool { return pkg == module || strings.HasPrefix(pkg, module+"/") }
