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

// planner says what the arguments ask for in the module at root.
type planner func(root, modulePath string, args []string) (*scaffold.Edit, error)

// editing makes c a command that changes a service: it applies the changes, shows what
// was done, and fetches what go.mod requires from then on.
func editing(p *term.Printer, c *cobra.Command, plan planner) *cobra.Command {
	var dryRun, noTidy bool
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would change, and change nothing")
	c.Flags().BoolVar(&noTidy, "no-tidy", false, "do not run go mod tidy where go.mod changes")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		root, modulePath, err := here()
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
		requires := slices.ContainsFunc(edit.Changes,
			func(c scaffold.Change) bool { return c.Path == "go.mod" })
		if dryRun || noTidy || !requires {
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
		p.Note("nothing to do: all of it is there")
	case dryRun:
		p.Note("nothing is changed; without --dry-run it would be")
		done = p.Note
	}
	for _, c := range edit.Changes {
		done("%s: %s", c.Path, c.What)
	}
	for _, step := range edit.Left {
		p.Note("left to do: %s", step)
	}
	if len(edit.Env) > 0 {
		p.Note("\nThese variables choose it, such as in .env:\n")
	}
	for _, key := range slices.Sorted(maps.Keys(edit.Env)) {
		p.Note("  %s=%s", key, edit.Env[key])
	}
	return nil
}

// here returns the folder and the module of the service that the program was started in.
func here() (root, modulePath string, err error) {
	s, err := service.Find(".")
	switch {
	case err != nil:
		return "", "", err
	case s.ModuleErr != nil:
		return "", "", s.ModuleErr
	case s.Module == nil || s.Module.Module == nil:
		return "", "", errors.New(
			"there is no go.mod here or above: begin a service with plinth new")
	}
	return s.Root, s.Module.Module.Mod.Path, nil
}
