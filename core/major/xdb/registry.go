package xdb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// ErrUnknownDriver reports that no registered driver has the wanted name.
var ErrUnknownDriver = errors.New("unsupported database driver")

// pluginRoot is where the project's own drivers live.
const pluginRoot = "github.com/plinthgo/plinth/dbplugins/"

// own are the names of the project's own drivers.
var own = []string{"mysql", "oracle", "postgres", "sqlite", "sqlserver"}

// Registry finds drivers by name. The zero value is empty and ready to use.
type Registry struct {
	mu      sync.RWMutex
	drivers map[string]driver.Driver
}

// defaultRegistry is filled by the init functions of plugins.
var defaultRegistry Registry

// Register adds d to the default registry; plugins call it from init.
func Register(d driver.Driver) { defaultRegistry.Register(d) }

// Drivers returns the names of the imported drivers, sorted.
func Drivers() []string { return defaultRegistry.Drivers() }

// Register adds d. It panics where the name is empty or taken.
func (r *Registry) Register(d driver.Driver) {
	name := d.Name()
	if name == "" {
		panic("xdb: a driver without a name")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.drivers[name]; taken {
		panic("xdb: driver registered twice: " + name)
	}
	if r.drivers == nil {
		r.drivers = make(map[string]driver.Driver)
	}
	r.drivers[name] = d
}

// Drivers returns the names of the registered drivers, sorted.
func (r *Registry) Drivers() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.drivers))
}

// lookup returns the driver called name. The error says how to get it.
func (r *Registry) lookup(name string) (driver.Driver, error) {
	r.mu.RLock()
	d, ok := r.drivers[name]
	r.mu.RUnlock()
	if ok {
		return d, nil
	}
	have := "none"
	if names := r.Drivers(); len(names) > 0 {
		have = strings.Join(names, ", ")
	}
	hint := ""
	if slices.Contains(own, name) {
		hint = fmt.Sprintf("; add the line `import _ %q` to the program and run `go get %s`", pluginRoot+name, pluginRoot+name)
	}
	return nil, fmt.Errorf("%w %q (imported: %s)%s", ErrUnknownDriver, name, have, hint)
}

// kindOf asks every driver for the kind of an error that did not pass through gorm.
func (r *Registry) kindOf(err error) driver.ErrorKind {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, d := range r.drivers {
		if k := d.ErrorKind(err); k != driver.Unknown {
			return k
		}
	}
	return driver.Unknown
}
