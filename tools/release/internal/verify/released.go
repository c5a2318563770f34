package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// released verifies a module from the zip of its working tree.
func (v *verifier) released(ctx context.Context, m workspace.Module) error {
	if err := v.rules(m); err != nil {
		return err
	}
	folder := v.stage.Path("modules", strings.ReplaceAll(m.Name, "/", "+"), filepath.Base(m.Dir))
	id := module.Version{Path: m.Path(), Version: v.planned[m.Path()]}
	pack := func(w io.Writer) error { return modproxy.Pack(ctx, w, m, id.Version) }
	if err := v.stage.Unpack(folder, id, pack); err != nil {
		return err
	}
	if err := v.complete(ctx, m, folder); err != nil {
		return err
	}
	return runReadOnly(folder, func() error {
		// go vet runs with all checks; go test need not repeat some of them.
		for _, args := range [][]string{{"build"}, {"vet"}, {"test", "-short", "-vet=off"}} {
			args = append(args, "-mod=readonly", "./...")
			if err := v.stage.Go(ctx, folder, v.stage.Cache(shared), args...); err != nil {
				return errors.Join(err, v.hint(m, args[0]))
			}
		}
		return nil
	})
}

// complete tidies the module, which adds the hashes of siblings. It returns an error if
// other lines are missing or superfluous.
func (v *verifier) complete(ctx context.Context, m workspace.Module, folder string) error {
	name := filepath.Join(folder, "go.sum")
	text, err := read(folder, "go.sum")
	if err != nil {
		return err
	}
	if text != nil {
		if text, err = sums.ReplaceHashes(text, v.taggedHash); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	if err := v.stage.Go(ctx, folder, v.stage.Cache(shared), "mod", "tidy"); err != nil {
		return errors.Join(err, v.hint(m, "tidy"))
	}
	if err := checkTidy(m.Dir, folder); err != nil {
		return errors.Join(err, v.hint(m, "tidy"))
	}
	return nil
}

// taggedHash returns the hash if the sibling's version has a tag, and "" otherwise,
// because the hash of an unpublished version changes with every commit.
func (v *verifier) taggedHash(l sums.Line) (string, error) {
	if sibling, ok := v.stage.ByPath(l.Path); ok && v.stage.Tagged(sibling, l.Version) {
		return l.Hash, nil
	}
	return "", nil
}

// checkTidy returns an error if go.mod or go.sum differ, except for the hashes of
// siblings.
func checkTidy(before, after string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		want, err := read(before, name)
		if err != nil {
			return err
		}
		have, err := read(after, name)
		if err != nil {
			return err
		}
		if want, have = sums.Others(want), sums.Others(have); !bytes.Equal(want, have) {
			return fmt.Errorf("%s is not tidy: run make tidy\n%s", name, difference(want, have))
		}
	}
	return nil
}

// difference returns the lines that only one of the files contains.
func difference(before, after []byte) string {
	var b strings.Builder
	was, is := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			b.WriteString("  - " + strings.TrimSpace(line) + "\n")
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			b.WriteString("  + " + strings.TrimSpace(line) + "\n")
		}
	}
	return b.String()
}

// hint returns possible causes of a step that fails outside the workspace.
func (v *verifier) hint(m workspace.Module, step string) error {
	var hints []error
	for _, need := range m.Siblings() {
		if planned := v.planned[need.Path]; semver.Compare(planned, need.Version) > 0 {
			sibling, _ := v.stage.ByPath(need.Path)
			hints = append(hints,
				fmt.Errorf("hint: the module was tested with its requirement %s %s, but %[1]s has "+
					"changed since: if it needs the change, add the next version of %[1]s to go.work and require it",
					sibling.Name, need.Version))
		}
	}
	if step == "test" {
		hints = append(hints, errors.New(
			"hint: the tests ran in the module's zip, which is read-only and contains no files of other modules "+
				"or of the repository: move the required files into the module, or skip the tests with a reason"))
	}
	return errors.Join(hints...)
}
