package verify

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/module"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// goVersion is the language version in every go.mod and the oldest supported Go.
const goVersion = "1.26.0"

// rules checks go.mod and LICENSE of a module.
func (v *verifier) rules(m workspace.Module) error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(format, args...))
	}
	if m.File.Go == nil || m.File.Go.Version != goVersion {
		report("go.mod lacks go %s: run go mod edit -go=%[1]s", goVersion)
	}
	if m.File.Toolchain != nil {
		report("go.mod has a toolchain line, which selects the Go version of its users: remove it")
	}
	for _, r := range m.File.Replace {
		report("go.mod has a replace of %s, which consumers ignore: move it to go.work", r.Old.Path)
	}
	for _, need := range m.Siblings() {
		if err := v.checkRequirement(m, need); err != nil {
			problems = append(problems, err)
		}
	}
	text, err := read(m.Dir, "LICENSE")
	if err != nil || !bytes.Contains(text, []byte("Apache License")) {
		report("LICENSE with the Apache License is missing: copy the file of the repository")
	}
	return errors.Join(problems...)
}

// checkRequirement returns an error if the required version of a sibling will not be
// available after the next release. An unreleased module must require the versions of the
// tree.
func (v *verifier) checkRequirement(m workspace.Module, need module.Version) error {
	sibling, ok := v.stage.ByPath(need.Path)
	switch {
	case !ok || !sibling.Released():
		return fmt.Errorf("go.mod requires %s, which is not a released module: remove it", need)
	case need.Version == sibling.Version:
		return nil
	case m.Released() && v.stage.Tagged(sibling, need.Version):
		return nil
	case m.Released():
		return fmt.Errorf("go.mod requires %s, which has no tag and is not the version of "+
			"the tree: require %s, or replace that version of %s in go.work if it is the next release",
			need, sibling.Version, sibling.Name)
	}
	return fmt.Errorf("go.mod requires %s: the module is never released and must "+
		"require %s, the version in go.work", need, sibling.Version)
}
