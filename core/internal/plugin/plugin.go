// Package plugin contains the code that plugin registries share: a set of named drivers,
// and errors that explain how to import a missing driver.
package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Named is the method that a Set requires of a driver.
type Named interface{ Name() string }

// Family describes one kind of plugin.
type Family struct {
	// Package is the name of the portable package. Messages contain it.
	Package string
	// Root is the import path of the directory of the project's own plugins, with a
	// trailing slash.
	Root string
	// Own lists the names of the project's own plugins.
	Own []string
	// Unknown is the error for a name that is not registered.
	Unknown error
	// Interface is the version of the interface that drivers of the family implement.
	Interface int
	// Mismatch is the error for a driver that was written for another version of the
	// interface.
	Mismatch error
}

// Set contains the drivers of one family. The zero value is empty and ready to use. A Set
// is safe for concurrent use.
type Set[D Named] struct {
	mu      sync.RWMutex
	drivers []D // sorted by name
}

// Add adds d. It panics if the name of d is empty or already registered.
func (s *Set[D]) Add(f Family, d D) {
	name := d.Name()
	if name == "" {
		panic(f.Package + ": a driver without a name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, exists := slices.BinarySearchFunc(s.drivers, name, func(other D, name string) int {
		return strings.Compare(other.Name(), name)
	})
	if exists {
		panic(f.Package + ": driver registered twice: " + name)
	}
	s.drivers = slices.Insert(s.drivers, i, d)
}

// All returns the drivers sorted by name.
func (s *Set[D]) All() []D {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.drivers)
}

// Names returns the names of the drivers in ascending order.
func (s *Set[D]) Names() []string {
	var names []string
	for _, d := range s.All() {
		names = append(names, d.Name())
	}
	return names
}

// Find returns the driver with the given name.
//
// If the name is not registered, the error wraps Family.Unknown and lists the registered
// drivers. For one of the project's own drivers it contains the import line to add. If
// the driver has another version, the error wraps Family.Mismatch and contains the
// command to run.
func (s *Set[D]) Find(f Family, name string) (D, error) {
	for _, d := range s.All() {
		if d.Name() == name {
			return d, f.checkVersion(d)
		}
	}
	var zero D
	names := s.Names()
	have := cmp.Or(strings.Join(names, ", "), "none")
	return zero, fmt.Errorf("%w %q (imported: %s); %s",
		f.Unknown, xenv.Redact(name), have, f.hint(name, names))
}

// hint explains how to fix a name that is not imported. It treats a name that differs in
// case only as a typo.
func (f Family) hint(name string, imported []string) string {
	like := func(other string) bool { return strings.EqualFold(other, name) }
	if i := slices.IndexFunc(imported, like); i >= 0 {
		return fmt.Sprintf("did you mean %q?", imported[i])
	}
	i := slices.IndexFunc(f.Own, like)
	if i < 0 {
		return "the project provides " + strings.Join(f.Own, ", ")
	}
	path := f.Root + f.Own[i]
	hint := fmt.Sprintf("add the line `import _ %q` to the program and run `go get %s`", path, path)
	if f.Own[i] != name {
		hint = fmt.Sprintf("did you mean %q? %s", f.Own[i], hint)
	}
	return hint
}
