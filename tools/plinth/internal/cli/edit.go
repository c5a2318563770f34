package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// editCall is a command that changes a service, with its flags.
type editCall struct {
	p              *term.Printer
	dryRun, noTidy bool
}

func (e *editCall) register(c *cobra.Command) {
	c.Flags().BoolVar(&e.dryRun, "dry-run", false, "print what would change, and change nothing")
}

func (e *editCall) registerTidy(c *cobra.Command) {
	c.Flags().BoolVar(&e.noTidy, "no-tidy", false, "do not run go mod tidy")
}

// carryOut applies the changes, shows what was done, and fetches what go.mod requires from then on.
func (e *editCall) carryOut(ctx context.Context, root string, edit *scaffold.Edit) error {
	if !e.dryRun {
		if err := scaffold.Apply(root, edit.Changes); err != nil {
			return err
		}
	}
	if err := e.show(edit); err != nil {
		return err
	}
	requires := slices.ContainsFunc(edit.Changes, func(c scaffold.Change) bool { return c.Path == "go.mod" })
	if e.dryRun || e.noTidy || !requires {
		return nil
	}
	return tidy(ctx, e.p, root)
}

func (e *editCall) show(edit *scaffold.Edit) error {
	if e.p.JSON {
		return e.p.WriteJSON(struct {
			*scaffold.Edit
			DryRun bool `json:"dry_run"`
		}{edit, e.dryRun})
	}
	switch {
	case len(edit.Changes) == 0:
		e.p.Note("nothing to do: all of it is there")
	case e.dryRun:
		e.p.Note("nothing is changed; without --dry-run it would be")
	}
	for _, c := range edit.Changes {
		if e.dryRun {
			e.p.Note("  %s: %s", c.Path, c.What)
			continue
		}
		e.p.Done("%s: %s", c.Path, c.What)
	}
	for _, step := range edit.Left {
		e.p.Note("left to do: %s", step)
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
		return "", "", errors.New("there is no go.mod here or above: begin a service with plinth new")
	}
	return s.Root, s.Module.Module.Mod.Path, nil
}
