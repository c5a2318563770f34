package workspace

import (
	"fmt"
	"slices"
	"strings"
)

// InOrder sorts modules so that each follows its requirements. It returns an error for a
// cycle. Modules in a cycle cannot be published together, because a zip contains the
// hashes of its requirements.
func InOrder(modules []Module) ([]Module, error) {
	byPath := map[string]Module{}
	for _, m := range modules {
		byPath[m.Path()] = m
	}
	var sorted []Module
	done := map[string]bool{}
	var visit func(m Module, above []string) error
	visit = func(m Module, above []string) error {
		if i := slices.Index(above, m.Name); i >= 0 {
			return fmt.Errorf("modules require one another: %s",
				strings.Join(append(above[i:], m.Name), " -> "))
		}
		if done[m.Name] {
			return nil
		}
		for _, sibling := range m.Siblings() {
			if s, ok := byPath[sibling.Path]; ok {
				if err := visit(s, append(slices.Clone(above), m.Name)); err != nil {
					return err
				}
			}
		}
		done[m.Name] = true
		sorted = append(sorted, m)
		return nil
	}
	for _, m := range modules {
		if err := visit(m, nil); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
