package main

import (
	"slices"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestModuleLists(t *testing.T) {
	modules := allModules(t)
	for _, name := range slices.Concat(longest, withoutRace) {
		if !slices.ContainsFunc(modules, func(m workspace.Module) bool { return m.Name == name }) {
			t.Errorf("unknown module %s", name)
		}
	}
}
