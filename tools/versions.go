// Package tools knows the versions of the modules that this program was built with.
package tools

import (
	_ "embed" // go.mod
	"fmt"

	"golang.org/x/mod/modfile"
)

//go:embed go.mod
var gomod []byte

// Versions returns the version of each module that go.mod requires, by its path.
func Versions() (map[string]string, error) {
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	versions := make(map[string]string, len(file.Require))
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}
