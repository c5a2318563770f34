package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func newGen(p *term.Printer) *cobra.Command {
	return commandGroup(&cobra.Command{
		Use:     "gen",
		GroupID: groupCreate,
		Short:   "Generate code",
	}, genEntity(p))
}

func genEntity(p *term.Printer) *cobra.Command {
	c := &cobra.Command{
		Use:   "entity Name field:type...",
		Short: "Generate an entity with repository, logic, routes and tests",
		Long: "Generate an entity in the service in the current directory, with the same layout as the notes of\n" +
			"plinth new: entity, repository, logic, routes and tests. The entity has an HTTP API. The\n" +
			"service creates its table at the next start. The command never overwrites a file.\n\n" +
			"Field types: " + strings.Join(scaffold.Kinds(), ", ") + ".\n" +
			"A string has 1 to 255 characters, a text up to 4000. An id is the ID of another entity.",
		Example: "  plinth gen entity Order customer:string total:int64 paid:bool at:time",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("gen entity requires a name, such as Order, and fields")
			}
			return scaffold.CheckEntity(args[0], args[1:])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	return editing(p, c, func(root, modulePath string, args []string) (*scaffold.Edit, error) {
		return scaffold.GenEntity(root, modulePath, args[0], args[1:])
	})
}
