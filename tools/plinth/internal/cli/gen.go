package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func newGen(p *term.Printer) *cobra.Command {
	c := &cobra.Command{
		Use:     "gen",
		GroupID: groupBegin,
		Short:   "Write another entity, from the route to the table",
	}
	return family(c, genEntity(p))
}

func genEntity(p *term.Printer) *cobra.Command {
	call := &editCall{p: p}
	c := &cobra.Command{
		Use:   "entity Name field:type...",
		Short: "Write an entity, repository, logic, handlers, routes and tests",
		Long: "Write an entity for the service in this folder, as plinth new has written its notes: entity, repository, logic,\n" +
			"handlers, routes, tests; the table is made at the next start. It answers over HTTP. A file that is there is never\n" +
			"overwritten.\n\n" +
			"Types of fields: " + strings.Join(scaffold.Kinds(), ", ") + ". A string has 1 to 255\n" +
			"characters, a text up to 4000; an id is that of another entity.",
		Example: "  plinth gen entity Order customer:string total:int64 paid:bool at:time",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return generateEntity(cmd.Context(), call, args[0], args[1:])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	call.register(c)
	return c
}

func generateEntity(ctx context.Context, call *editCall, name string, fields []string) error {
	if err := scaffold.CheckEntity(name, fields); err != nil {
		return usageError{err}
	}
	root, modulePath, err := here()
	if err != nil {
		return err
	}
	edit, err := scaffold.GenEntity(root, modulePath, name, fields)
	if err != nil {
		return err
	}
	return call.carryOut(ctx, root, edit)
}
