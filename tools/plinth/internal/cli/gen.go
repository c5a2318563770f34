package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func newGen(p *term.Printer) *cobra.Command {
	return family(&cobra.Command{
		Use:     "gen",
		GroupID: groupBegin,
		Short:   "Write another entity, from the route to the table",
	}, genEntity(p))
}

func genEntity(p *term.Printer) *cobra.Command {
	c := &cobra.Command{
		Use:   "entity Name field:type...",
		Short: "Write an entity, repository, logic, handlers, routes and tests",
		Long: "Write an entity for the service in this folder, as plinth new has written its notes: entity, repository, logic,\n" +
			"handlers, routes, tests; the table is made at the next start. It answers over HTTP. A file that is there is never\n" +
			"overwritten.\n\n" +
			"Types of fields: " + strings.Join(scaffold.Kinds(), ", ") +
			". A string has 1 to 255\n" +
			"characters, a text up to 4000; an id is that of another entity.",
		Example: "  plinth gen entity Order customer:string total:int64 paid:bool at:time",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("gen entity needs a name, such as Order, and fields")
			}
			return scaffold.CheckEntity(args[0], args[1:])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	return editing(p, c, func(root, modulePath string, args []string) (*scaffold.Edit, error) {
		return scaffold.GenEntity(root, modulePath, args[0], args[1:])
	})
}
