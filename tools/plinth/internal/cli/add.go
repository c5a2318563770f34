package cli

import (
	"context"
	"maps"
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

func addOne(p *term.Printer, versions scaffold.Versions, word, kind string, backends []catalog.Backend) *cobra.Command {
	call := &editCall{p: p}
	names := catalog.Names(backends)
	c := &cobra.Command{
		Use:       word + " {" + strings.Join(names, "|") + "}",
		Short:     "Link another " + kind + " into the service",
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, ok := catalog.Find(backends, args[0])
			if !ok {
				return usagef("there is no %s %q, but: %s", kind, args[0], strings.Join(names, ", "))
			}
			return addBackend(cmd.Context(), call, b, versions)
		},
	}
	call.register(c)
	call.registerTidy(c)
	return c
}

func addBackend(ctx context.Context, call *editCall, b catalog.Backend, versions scaffold.Versions) error {
	root, modulePath, err := here()
	if err != nil {
		return err
	}
	edit, err := scaffold.AddBackend(root, modulePath, b, versions)
	if err != nil {
		return err
	}
	problem := call.carryOut(ctx, root, edit)
	if !call.p.JSON {
		call.p.Note("\n%s is chosen by these variables, such as in .env:\n", b.Title)
		for _, key := range slices.Sorted(maps.Keys(edit.Env)) {
			call.p.Note("  %s=%s", key, edit.Env[key])
		}
	}
	return problem
}
