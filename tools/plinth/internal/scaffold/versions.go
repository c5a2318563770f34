package scaffold

import (
	"fmt"

	"golang.org/x/mod/modfile"
)

// Versions are the versions of modules, by their paths.
type Versions map[string]string

// ReadVersions returns the version of each module that a go.mod requires.
func ReadVersions(gomod []byte) (Versions, error) {
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil {
		return nil, fmt.Errorf("read the versions of modules: %w", err)
	}
	versions := make(Versions, len(file.Require))
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}
