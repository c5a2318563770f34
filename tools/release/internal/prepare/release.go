package prepare

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/changelog"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
)

// release is a release in preparation.
type release struct {
	root  string
	plan  *plan.Plan
	log   func(format string, args ...any)
	files map[string][]byte // changed files relative to the root; nil deletes a file
}

// row returns the plan of a module.
func (r release) row(name string) plan.Module {
	i := slices.IndexFunc(r.plan.Modules, func(m plan.Module) bool { return m.Name == name })
	if i < 0 {
		return plan.Module{Name: name, State: plan.Unchanged}
	}
	return r.plan.Modules[i]
}

// released returns the modules with a new version.
func (r release) released() []plan.Module {
	return slices.DeleteFunc(slices.Clone(r.plan.Modules),
		func(m plan.Module) bool { return m.Next == "" })
}

// write sets the files of the release.
func (r release) write(ctx context.Context, date string) error {
	modules, err := workspace.Modules(r.root)
	if err != nil {
		return err
	}
	if err := r.modules(ctx, modules); err != nil {
		return err
	}
	if err := r.work(modules); err != nil {
		return err
	}
	return r.notes(date)
}

// notes moves the fragments to the changelog.
func (r release) notes(date string) error {
	text, err := os.ReadFile(filepath.Join(r.root, changelog.File))
	if err != nil {
		return err
	}
	var releases []changelog.Release
	for _, m := range r.released() {
		releases = append(releases,
			changelog.Release{Module: m.Name, Version: m.Next, Notes: m.Notes})
		for _, name := range m.Fragments {
			r.files[name] = nil
		}
	}
	changed := changelog.Roll(string(text), date, releases)
	if len(releases) > 0 && changed != string(text) {
		r.files[changelog.File] = []byte(changed)
	}
	return nil
}

// message returns the commit message, with the released versions and the reasons for
// raised requirements.
func (r release) message() string {
	var names []string
	var body strings.Builder
	for _, m := range r.released() {
		names = append(names, m.Name+" "+m.Next)
		fmt.Fprintf(&body, "%s %s\n", m.Name, m.Next)
		for _, need := range m.Raises {
			fmt.Fprintf(&body, "  requires %s %s: %s\n", need.Module, need.To, need.Reason)
		}
	}
	switch {
	case len(names) == 0:
		return "Raise the requirements of unreleased modules\n"
	case len(names) <= 3:
		return "Release " + strings.Join(names, ", ") + "\n\n" + body.String()
	}
	return fmt.Sprintf("Release %d modules\n\n%s", len(names), body.String())
}
