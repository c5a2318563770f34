package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func newAdd(p *term.Printer, versions scaffold.Versions) *cobra.Command {
	c := &cobra.Command{
		Use:     "add",
		GroupID: groupCreate,
		Short:   "Add a database or cache driver to a service",
		Long: "Add a database or cache driver to the service in the current directory.\n\n" +
			"The command adds the import, the requirement in go.mod, the option that opens the backend, the\n" +
			"variables in .env.example and the container in compose.yaml. It does not change existing code.\n" +
			"The environment selects the driver.\n\n" +
			"The command cannot add gRPC, background jobs, schedules or mail. Create another service with\n" +
			"plinth new and these flags, and compare the files.",
		Example: "  plinth add db postgres\n  plinth add cache redis --dry-run",
	}
	return commandGroup(c,
		addOne(p, versions, "db", "database", catalog.Databases()),
		addOne(p, versions, "cache", "cache", catalog.Caches()))
}

func addOne(
	p *term.Printer, versions scaffold.Versions, word, kind string, backends []catalog.Backend,
) *cobra.Command {
	names := catalog.Names(backends)
	c := &cobra.Command{
		Use:       word + " {" + strings.Join(names, "|") + "}",
		Short:     "Add a " + kind + " driver to the service",
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return fmt.Errorf("unknown %s %q; available: %s",
					kind, strings.Join(args, " "), strings.Join(names, ", "))
			}
			return nil
		},
	}
	return editing(p, c, func(root, modulePath string, args []string) (*scaffold.Edit, error) {
		b, _ := catalog.Find(backends, args[0])
		return scaffold.AddBackend(root, modulePath, b, versions)
	})
}
