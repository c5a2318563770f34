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
		GroupID: groupBegin,
		Short:   "Link another database or cache into a service",
		Long: "Link another database or cache into the service in this folder: the import, the requirement in go.mod, the option\n" +
			"that opens it where there is none yet, the variables in .env.example, the container in compose.yaml. What is there\n" +
			"stays; the environment chooses.\n\n" +
			"gRPC, background work, schedules and mail are more than lines to add: begin a service with plinth new and the flag,\n" +
			"and compare.",
		Example: "  plinth add db postgres\n  plinth add cache redis --dry-run",
	}
	return family(c,
		addOne(p, versions, "db", "database", catalog.Databases()),
		addOne(p, versions, "cache", "cache", catalog.Caches()))
}

func addOne(
	p *term.Printer, versions scaffold.Versions, word, kind string, backends []catalog.Backend,
) *cobra.Command {
	names := catalog.Names(backends)
	c := &cobra.Command{
		Use:       word + " {" + strings.Join(names, "|") + "}",
		Short:     "Link another " + kind + " into the service",
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return fmt.Errorf("there is no %s %q, but: %s",
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
