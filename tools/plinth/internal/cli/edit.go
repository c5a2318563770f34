package cli

import (
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// planner plans the changes that the arguments describe in the module at root.
type planner func(root, modulePath string, args []string) (*scaffold.Edit, error)

// editing makes c a command that changes a service. It applies and prints the changes,
// and runs go mod tidy if go.mod changed.
func editing(p *term.Printer, c *cobra.Command, plan planner) *cobra.Command {
	var dryRun, noTidy bool
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the changes without applying them")
	c.Flags().BoolVar(&noTidy, "no-tidy", false, "do not run go mod tidy if go.mod changes")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		root, modulePath, err := currentModule()
		if err != nil {
			return err
		}
		edit, err := plan(root, modulePath, args)
		if err != nil {
			return err
		}
		if !dryRun {
			if err := scaffold.Apply(root, edit.Changes); err != nil {
				return err
			}
		}
		if err := showEdit(p, edit, dryRun); err != nil {
			return err
		}
		goModChanged := slices.ContainsFunc(edit.Changes,
			func(c scaffold.Change) bool { return c.Path == "go.mod" })
		if dryRun || noTidy || !goModChanged {
			return nil
		}
		return tidy(cmd.Context(), p, root)
	}
	return c
}

func showEdit(p *term.Printer, edit *scaffold.Edit, dryRun bool) error {
	if p.JSON {
		return p.WriteJSON(struct {
			*scaffold.Edit

			DryRun bool `json:"dry_run"`
		}{edit, dryRun})
	}
	done := p.Done
	switch {
	case len(edit.Changes) == 0:
		p.Note("nothing to do")
	case dryRun:
		p.Note("dry run: these changes are not applied")
		done = p.Note
	}
	for _, c := range edit.Changes {
		done("%s: %s", c.Path, c.What)
	}
	for _, step := range edit.Left {
		p.Note("to do: %s", step)
	}
	if len(edit.Env) > 0 {
		p.Note("\nSet these variables to select the driver, for example in .env:\n")
	}
	for _, key := range slices.Sorted(maps.Keys(edit.Env)) {
		p.Note("  %s=%s", key, edit.Env[key])
	}
	return nil
}

// currentModule returns the root directory and the module path of the service in the
// working directory.
func currentModule() (root, modulePath string, err error) {
	s, err := service.Find(".")
	switch {
	case err != nil:
		return "", "", err
	case s.ModuleErr != nil:
		return "", "", s.ModuleErr
	case s.Module == nil || s.Module.Module == nil:
		return "", "", errors.New(
			"no go.mod in this directory or its parents; create a service with plinth new")
	}
	return s.Root, s.Module.Module.Mod.Path, nil
}
