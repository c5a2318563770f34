package cli

import (
	"context"
	"errors"

	"github.com/charmbracelet/huh"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// extras are what a service may have beside its backends, by the names of their flags.
var extras = []struct{ flag, title string }{
	{"grpc", "gRPC beside HTTP"},
	{"async", "work in the background"},
	{"cron", "work on a schedule"},
	{"mail", "mail"},
}

// ask asks for what no flag and no argument says.
func (c *newCall) ask(ctx context.Context) error {
	var groups []*huh.Group // a page each
	page := func(f huh.Field) { groups = append(groups, huh.NewGroup(f)) }
	if c.wanted.Module == "" {
		page(huh.NewInput().Title("Module path").Placeholder("example.com/shop").Value(
			&c.wanted.Module).
			Validate(scaffold.CheckModule))
	}
	if !c.said("db") {
		page(choice("Database", catalog.Databases(), &c.wanted.Database))
	}
	if !c.said("cache") {
		page(choice("Cache", catalog.Caches(), &c.wanted.Cache))
	}
	var more []string
	var options []huh.Option[string]
	saidMore := false
	for _, e := range extras {
		options = append(options, huh.NewOption(e.title, e.flag))
		saidMore = saidMore || c.said(e.flag)
	}
	if !saidMore {
		page(huh.NewMultiSelect[string]().Title("What else").Options(options...).Value(&more))
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

func (c *newCall) said(flag string) bool { return c.cmd.Flags().Changed(flag) }

func choice(title string, backends []catalog.Backend, value *string) huh.Field {
	options := make([]huh.Option[string], 0, len(backends)+1)
	for _, b := range backends {
		options = append(options, huh.NewOption(b.Title, b.Name))
	}
	options = append(options, huh.NewOption("none", catalog.None))
	return huh.NewSelect[string]().Title(title).Options(options...).Value(value)
}
