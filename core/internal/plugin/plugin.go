// Package plugin holds what the registries of plugins share: a set of drivers by name, and the error
// that tells how to get the one that is missing.
package plugin

import (
	"fmt"
	"maps"
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
	// Root is the import path of the folder in which the project's own plugins live, with a slash at the end.
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

// Set holds the drivers of one family. The zero value is empty and ready to use, and safe for concurrent
// use.
type Set[D Named] struct {
	mu      sync.RWMutex
	drivers map[string]D
}

// Add adds d. It panics where the name is empty or taken: both are mistakes of a program, found when it
// starts.
func (s *Set[D]) Add(f Family, d D) {
	name := d.Name()
	if name == "" {
		panic(f.Package + ": a driver without a name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.drivers[name]; taken {
		panic(f.Package + ": driver registered twice: " + name)
	}
	if s.drivers == nil {
		s.drivers = make(map[string]D)
	}
	s.drivers[name] = d
}

// Names returns the names of the drivers, sorted.
func (s *Set[D]) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.drivers))
}

// All returns the drivers in the order of their names.
func (s *Set[D]) All() []D {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]D, 0, len(s.drivers))
	for _, name := range slices.Sorted(maps.Keys(s.drivers)) {
		all = append(all, s.drivers[name])
	}
	return all
}

// Find returns the driver called name. The error wraps Family.Unknown, names the drivers that are there,
// and says which line to add for one of the project's own; or it wraps Family.Mismatch, and says which command to run.
func (s *Set[D]) Find(f Family, name string) (D, error) {
	s.mu.RLock()
	d, ok := s.drivers[name]
	s.mu.RUnlock()
	if ok {
		return d, f.fits(d)
	}
	have := "none"
	if names := s.Names(); len(names) > 0 {
		have = strings.Join(names, ", ")
	}
	return d, fmt.Errorf("%w %q (imported: %s); %s", f.Unknown, xenv.Redact(name), have, s.hint(f, name))
}

// hint says what to do about a name that is not there. Names that differ in their case are taken for a slip.
func (s *Set[D]) hint(f Family, name string) string {
	like := func(other string) bool { return strings.EqualFold(other, name) }
	slip := ""
	if i := slices.IndexFunc(s.Names(), like); i >= 0 {
		return fmt.Sprintf("did you mean %q?", s.Names()[i])
	}
	i := slices.IndexFunc(f.Own, like)
	if i < 0 {
		return "the project's own are " + strings.Join(f.Own, ", ")
	}
	own := f.Own[i]
	if own != name {
		slip = fmt.Sprintf("did you mean %q? ", own)
	}
	return slip + fmt.Sprintf("add the line `import _ %q` to the program and run `go get %s`", f.Root+own, f.Root+own)
}
