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

// registry contains the variables of all linked packages. Init functions fill it.
var registry struct {
	sync.RWMutex

	vars []Var
}

// find returns the index of a variable, or -1. The caller must lock the registry.
func find(key EnvKey) int {
	return slices.IndexFunc(registry.vars, func(v Var) bool { return v.Key == key })
}

// Register adds the variables of the fields of T, a named struct of the calling package,
// to a group. Call it in an init function. Load describes the tags of the fields.
//
// Register panics if a tag is invalid, or if another package registered the same variable
// with a different definition.
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

// Table returns all registered variables. Groups are in alphabetical order, variables of
// a group in the order of the fields.
func Table() []Var {
	registry.RLock()
	defer registry.RUnlock()
	vars := slices.Clone(registry.vars)
	slices.SortStableFunc(vars, func(a, b Var) int {
		return cmp.Compare(strings.ToLower(a.Group), strings.ToLower(b.Group))
	})
	return vars
}

// Lookup returns the registered variable. If no package registered key, Lookup returns a
// Var that contains only the key.
func Lookup(key EnvKey) Var {
	registry.RLock()
	defer registry.RUnlock()
	if i := find(key); i >= 0 {
		return registry.vars[i]
	}
	return Var{Key: key}
}

// Validate checks all registered variables of the environment. The error joins a Problem
// for each invalid value and for each required variable that is not set, in the order of
// Table.
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

const maxTypos = 2

// Misspelled returns a line for each environment variable that no linked package
// registered and whose name resembles a registered name.
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

// within reports whether the edit distance of a and b is at most typos.
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
