package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
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

// edited is the result of a command that changes a service, as JSON.
type edited struct {
	Changes []editedFile      `json:"changes"`
	Env     map[string]string `json:"env,omitempty"`
	Left    []string          `json:"left,omitempty"`
	DryRun  bool              `json:"dry_run"`
}

type editedFile struct {
	Path string `json:"path"`
	New  bool   `json:"new"`
	What string `json:"what"`
}

// carryOut applies the changes, shows what was done, and fetches what go.mod requires from then on.
func (e *editCall) carryOut(ctx context.Context, root string, added *scaffold.Added) error {
	if !e.dryRun {
		if err := scaffold.Apply(root, added.Changes); err != nil {
			return err
		}
	}
	if err := e.show(added); err != nil {
		return err
	}
	requires := slices.ContainsFunc(added.Changes, func(c scaffold.Change) bool { return c.Path == "go.mod" })
	if e.dryRun || e.noTidy || !requires {
		return nil
	}
	return tidy(ctx, e.p, root)
}

func (e *editCall) show(added *scaffold.Added) error {
	if e.p.JSON {
		result := edited{Changes: []editedFile{}, Env: byName(added.Env), Left: added.Left, DryRun: e.dryRun}
		for _, c := range added.Changes {
			result.Changes = append(result.Changes, editedFile{c.Path, c.Created(), c.What})
		}
		return e.p.WriteJSON(result)
	}
	switch {
	case len(added.Changes) == 0:
		e.p.Note("nothing to do: all of it is there")
	case e.dryRun:
		e.p.Note("nothing is changed; without --dry-run it would be")
	}
	for _, c := range added.Changes {
		if e.dryRun {
			e.p.Note("  %s: %s", c.Path, c.What)
			continue
		}
		e.p.Done("%s: %s", c.Path, c.What)
	}
	for _, step := range added.Left {
		e.p.Note("left to do: %s", step)
	}
	return nil
}

func byName(values []catalog.Value) map[string]string {
	names := map[string]string{}
	for _, v := range values {
		names[v.Key] = v.Value
	}
	return names
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
