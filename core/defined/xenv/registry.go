package xenv

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// registry has the variables of every package that is linked, filled by init functions.
var registry struct {
	sync.RWMutex

	vars []Var
}

// find returns the index of a variable, or -1. The registry is locked.
func find(key EnvKey) int {
	return slices.IndexFunc(registry.vars, func(v Var) bool { return v.Key == key })
}

// Register adds the variables of the fields of T, a named struct of the calling package,
// under a heading. It belongs in an init function. See Load for the tags of the fields.
//
// It panics if a tag makes no sense, or if another package has registered one of the
// variables with another definition.
func Register[T any](group string) {
	t := reflect.TypeFor[T]()
	fields := fieldsOf(t)
	registry.Lock()
	defer registry.Unlock()
	for _, f := range fields {
		f.Group, f.Packages = group, []string{t.PkgPath()}
		add(f.Var)
	}
}

func add(v Var) {
	i := find(v.Key)
	if i < 0 {
		registry.vars = append(registry.vars, v)
		return
	}
	have := &registry.vars[i]
	if !have.sameAs(v) {
		panic(fmt.Sprintf("xenv: %s and %s register %s with different definitions",
			strings.Join(have.Packages, ", "), v.Packages[0], v.Key))
	}
	if !slices.Contains(have.Packages, v.Packages[0]) {
		have.Packages = append(slices.Clone(have.Packages), v.Packages[0])
	}
}

// Table returns every registered variable: groups in alphabetical order, and their
// variables in the order of the fields.
func Table() []Var {
	registry.RLock()
	defer registry.RUnlock()
	vars := slices.Clone(registry.vars)
	slices.SortStableFunc(vars, func(a, b Var) int {
		return cmp.Compare(strings.ToLower(a.Group), strings.ToLower(b.Group))
	})
	return vars
}

// Lookup returns the registered variable; a key that no package has registered returns a
// Var of its name alone.
func Lookup(key EnvKey) Var {
	registry.RLock()
	defer registry.RUnlock()
	if i := find(key); i >= 0 {
		return registry.vars[i]
	}
	return Var{Key: key}
}

// Validate checks every registered variable against the environment. The error joins a
// Problem for each value that is not accepted and for each required variable that is not
// set, in the order of Table.
func Validate() error {
	var problems []error
	for _, v := range Table() {
		if text, set := v.from(Environment()); set {
			problems = append(problems, v.Check(text))
		} else if v.Required {
			problems = append(problems, v.problem("", "is not set"))
		}
	}
	return errors.Join(problems...)
}

// maxTypos is the edit distance up to which an unknown name is taken for a misspelled
// one.
const maxTypos = 2

// Misspelled returns a line for each variable of the environment that no linked package
// has registered, and whose name is close to one that is registered.
func Misspelled() []string {
	var lines []string
	table := Table()
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || slices.ContainsFunc(table,
			func(v Var) bool { return v.Key.String() == name }) {
			continue
		}
		i := slices.IndexFunc(table,
			func(v Var) bool { return within(maxTypos, name, v.Key.String()) })
		if i >= 0 {
			lines = append(lines,
				fmt.Sprintf("%s is set, and no linked package reads it: did you mean %s?",
					name, table[i].Key))
		}
	}
	slices.Sort(lines)
	return lines
}

// within reports whether a becomes b by adding, removing or changing at most typos
// letters (the distance of Levenshtein).
func within(typos int, a, b string) bool {
	switch {
	case a == "" || b == "":
		return len(a)+len(b) <= typos
	case a[0] == b[0]:
		return within(typos, a[1:], b[1:])
	case typos == 0:
		return false
	}
	return within(typos-1, a[1:], b) || within(typos-1, a, b[1:]) || within(typos-1, a[1:], b[1:])
}
