package verify

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/module"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// goVersion is the language version that every module states, and the oldest Go that is
// supported.
const goVersion = "1.26.0"

// rules are what the files of a module must say.
func (v *verifier) rules(m workspace.Module) error {
	var problems []error
	breach := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(format, args...))
	}
	if m.File.Go == nil || m.File.Go.Version != goVersion {
		breach("go.mod does not state go %s: run go mod edit -go=%[1]s", goVersion)
	}
	if m.File.Toolchain != nil {
		breach("go.mod has a toolchain line, which would choose the Go of its users: remove it")
	}
	for _, r := range m.File.Replace {
		breach("go.mod has a replace of %s, which no user sees: remove it, go.work is the place for it", r.Old.Path)
	}
	for _, need := range m.Siblings() {
		if err := v.obtainable(m, need); err != nil {
			problems = append(problems, err)
		}
	}
	text, err := read(m.Dir, "LICENSE")
	if err != nil || !bytes.Contains(text, []byte("Apache License")) {
		breach("it has no LICENSE with the Apache License: copy the file of the repository")
	}
	return errors.Join(problems...)
}

// obtainable refuses a requirement of a sibling at a version that nobody could obtain
// after the next release. A module that is never released has to require those versions
// for which the tree answers.
func (v *verifier) obtainable(m workspace.Module, need module.Version) error {
	sibling, ok := v.stage.ByPath(need.Path)
	switch {
	case !ok || !sibling.Released():
		return fmt.Errorf("go.mod requires %s, which is no module that is released: remove it",
			need)
	case need.Version == sibling.Version:
		return nil
	case m.Released() && v.stage.Tagged(sibling, need.Version):
		return nil
	case m.Released():
		return fmt.Errorf("go.mod requires %s, which has no tag, and which the tree does not answer for: require %s, or let go.work "+
			"replace that version of %s where it is the next to be released",
			need, sibling.Version, sibling.Name)
	}
	return fmt.Errorf("go.mod requires %s: it is never released and has to require %s, as go.work says", need, sibling.Version)
}
