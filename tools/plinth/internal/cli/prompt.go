package cli

import (
	"context"
	"errors"

	"github.com/charmbracelet/huh"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// extras are the optional features of a service, by flag name.
var extras = []struct{ flag, title string }{
	{"grpc", "gRPC server"},
	{"async", "background jobs"},
	{"cron", "scheduled jobs"},
	{"mail", "mail"},
}

// prompt prompts for every value that no flag or argument sets.
func (c *newCall) prompt(ctx context.Context) error {
	var groups []*huh.Group // one page each
	page := func(f huh.Field) { groups = append(groups, huh.NewGroup(f)) }
	if c.spec.Module == "" {
		page(huh.NewInput().Title("Module path").Placeholder("example.com/shop").
			Value(&c.spec.Module).Validate(scaffold.CheckModule))
	}
	if !c.isSet("db") {
		page(choice("Database", catalog.Databases(), &c.spec.Database))
	}
	if !c.isSet("cache") {
		page(choice("Cache", catalog.Caches(), &c.spec.Cache))
	}
	var more []string
	var options []huh.Option[string]
	anySet := false
	for _, e := range extras {
		options = append(options, huh.NewOption(e.title, e.flag))
		anySet = anySet || c.isSet(e.flag)
	}
	if !anySet {
		page(huh.NewMultiSelect[string]().Title("Features").Options(options...).Value(&more))
	}
	if len(groups) == 0 {
		return nil
	}
	form := huh.NewForm(groups...).WithInput(c.p.In).WithOutput(c.p.Err)
	if err := form.RunWithContext(ctx); err != nil {
		if errors.Is(err, huh.ErrUserAborted) {
			return errInterrupted
		}
		return err
	}
	for _, name := range more {
		if err := c.cmd.Flags().Set(name, "true"); err != nil {
			return err
		}
	}
	return nil
}

func (c *newCall) isSet(flag string) bool { return c.cmd.Flags().Changed(flag) }

func choice(title string, backends []catalog.Backend, value *string) huh.Field {
	options := make([]huh.Option[string], 0, len(backends)+1)
	for _, b := range backends {
		options = append(options, huh.NewOption(b.Title, b.Name))
	}
	options = append(options, huh.NewOption("none", catalog.None))
	return huh.NewSelect[string]().Title(title).Options(options...).Value(value)
}
