// Package plugin holds what the registries of plugins share: a set of drivers by name,
// and the error that tells how to get the one that is missing.
package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Named is a driver as far as a set is concerned.
type Named interface{ Name() string }

// Family is one kind of plugin.
type Family struct {
	// Package is the portable package, for messages.
	Package string
	// Root is the import path of the folder in which the project's own plugins live, with
	// a slash at the end.
	Root string
	// Own are the names of the project's own plugins.
	Own []string
	// Unknown is the error of a name that nobody has registered.
	Unknown error
	// Interface is the version of the interface that drivers of the family implement.
	Interface int
	// Mismatch is the error of a driver that was written for another version of it.
	Mismatch error
}

// Set holds the drivers of one family. The zero value is empty and ready to use, and safe
// for concurrent use.
type Set[D Named] struct {
	mu      sync.RWMutex
	drivers []D // in the order of their names
}

// Add adds d. It panics if the name is empty or taken: both are mistakes of a program,
// found when it starts.
func (s *Set[D]) Add(f Family, d D) {
	name := d.Name()
	if name == "" {
		panic(f.Package + ": a driver without a name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, taken := slices.BinarySearchFunc(s.drivers, name, func(other D, name string) int {
		return strings.Compare(other.Name(), name)
	})
	if taken {
		panic(f.Package + ": driver registered twice: " + name)
	}
	s.drivers = slices.Insert(s.drivers, i, d)
}

// All returns the drivers in the order of their names.
func (s *Set[D]) All() []D {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.drivers)
}

// Names returns the names of the drivers, sorted.
func (s *Set[D]) Names() []string {
	var names []string
	for _, d := range s.All() {
		names = append(names, d.Name())
	}
	return names
}

// Find returns the driver called name. The error wraps Family.Unknown, names the drivers
// that are there, and says which line to add for one of the project's own; or it wraps
// Family.Mismatch, and says which command to run.
func (s *Set[D]) Find(f Family, name string) (D, error) {
	for _, d := range s.All() {
		if d.Name() == name {
			return d, f.fits(d)
		}
	}
	var none D
	names := s.Names()
	have := cmp.Or(strings.Join(names, ", "), "none")
	return none, fmt.Errorf("%w %q (imported: %s); %s",
		f.Unknown, xenv.Redact(name), have, f.hint(name, names))
}

// hint says what to do about a name that is not imported. Names that differ in their case
// are taken for a slip.
func (f Family) hint(name string, imported []string) string {
	like := func(other string) bool { return strings.EqualFold(other, name) }
	if i := slices.IndexFunc(imported, like); i >= 0 {
		return fmt.Sprintf("did you mean %q?", imported[i])
	}
	i := slices.IndexFunc(f.Own, like)
	if i < 0 {
		return "the project's own are " + strings.Join(f.Own, ", ")
	}
	path := f.Root + f.Own[i]
	hint := fmt.Sprintf("add the line `import _ %q` to the program and run `go get %s`", path, path)
	if f.Own[i] != name {
		hint = fmt.Sprintf("did you mean %q? %s", f.Own[i], hint)
	}
	return hint
}
