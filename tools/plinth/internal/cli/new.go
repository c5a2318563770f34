package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// newCall is the command new with its flags.
type newCall struct {
	p        *term.Printer
	cmd      *cobra.Command
	versions scaffold.Versions
	wanted   scaffold.Wanted
	dir      string
	yes      bool
	noTidy   bool
}

func newNew(p *term.Printer, versions scaffold.Versions) *cobra.Command {
	call := &newCall{p: p, versions: versions}
	c := &cobra.Command{
		Use:     "new [module]",
		GroupID: groupBegin,
		Short:   "Begin a service: code, tests, container, manifests, CI",
		Long: "Begin a service with one entity from the route to the table, its tests, and what it takes to run it: Dockerfile,\n" +
			"Compose, Kubernetes manifests with probes, Makefile, CI, AGENTS.md.\n\n" +
			"The files come from this program and are written all or not at all, into a folder that is empty or not there. Then\n" +
			"go mod tidy fetches the modules. At a terminal it asks for what no flag says; --yes takes the defaults instead.",
		Example: "  plinth new example.com/shop\n" +
			"  plinth new example.com/shop --db postgres --cache redis --grpc --async --cron --mail\n" +
			"  plinth new example.com/hello --db none --cache none --yes",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return call.run(cmd.Context(), args)
		},
	}
	call.cmd = c
	databases, caches := choices(catalog.Databases()), choices(catalog.Caches())
	flags := c.Flags()
	flags.StringVar(&call.wanted.Database, "db",
		databases[0], "database: "+strings.Join(databases, ", "))
	flags.StringVar(&call.wanted.Cache, "cache", caches[0], "cache: "+strings.Join(caches, ", "))
	flags.BoolVar(&call.wanted.GRPC, "grpc", false, "answer over gRPC as well")
	flags.BoolVar(&call.wanted.Async, "async",
		false, "work in the background; with a database durable jobs")
	flags.BoolVar(&call.wanted.Cron, "cron", false, "work on a schedule")
	flags.BoolVar(&call.wanted.Mail, "mail", false, "mail; with a database stored until it is sent")
	flags.StringVar(&call.dir, "dir", "", "folder of the service (default: the name of the module)")
	flags.BoolVarP(&call.yes, "yes", "y", false, "ask nothing")
	flags.BoolVar(&call.noTidy, "no-tidy", false, "do not run go mod tidy")
	oneOf(c, "db", databases...)
	oneOf(c, "cache", caches...)
	return c
}

// choices are the names of the backends, and none.
func choices(backends []catalog.Backend) []string {
	return append(catalog.Names(backends), catalog.None)
}

func (c *newCall) run(ctx context.Context, args []string) error {
	if len(args) == 1 {
		c.wanted.Module = args[0]
	}
	if c.p.Interactive && !c.yes {
		if err := c.ask(ctx); err != nil {
			return err
		}
	}
	if c.wanted.Module == "" {
		return usagef("new needs the module path of the service, such as example.com/shop")
	}
	s, err := scaffold.NewService(c.wanted, c.versions)
	if err != nil {
		return usageError{err}
	}
	files, err := scaffold.Render(s)
	if err != nil {
		return err
	}
	dir := cmp.Or(c.dir, s.Name)
	if err := scaffold.Create(dir, files); err != nil {
		return err
	}
	var problem error
	if !c.noTidy {
		problem = tidy(ctx, c.p, dir)
	}
	if err := c.show(s, dir, files.Paths(), !c.noTidy && problem == nil); err != nil {
		return err
	}
	return problem
}

func (c *newCall) show(s *scaffold.Service, dir string, files []string, tidied bool) error {
	next := nextSteps(s, dir, tidied)
	if c.p.JSON {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		return c.p.WriteJSON(struct {
			Module string   `json:"module"`
			Name   string   `json:"name"`
			Dir    string   `json:"dir"`
			Files  []string `json:"files"`
			Tidied bool     `json:"tidied"`
			Next   []string `json:"next"`
		}{s.Module, s.Name, absolute, files, tidied, next})
	}
	c.p.Done("%s is in %s: %d files", s.Module, relativeTo(dir), len(files))
	if tidied {
		c.p.Done("go mod tidy has fetched the modules")
	}
	c.p.Note("\n  %s", strings.Join(next, "\n  "))
	return nil
}

// nextSteps are the commands that lead to a first answer.
func nextSteps(s *scaffold.Service, dir string, tidied bool) []string {
	steps := []string{"cd " + relativeTo(dir)}
	if !tidied {
		steps = append(steps, "go mod tidy")
	}
	if len(s.Containers()) > 0 {
		steps = append(steps, "make up")
	}
	return append(steps, "make run",
		fmt.Sprintf(`curl -s localhost:1118/api/v1/notes -H 'Content-Type: application/json' -d '{"title":"Hello from %s"}'`, s.Name))
}

// relativeTo is the folder as seen from here, where that is shorter.
func relativeTo(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	if relative, err := filepath.Rel(here, dir); err == nil && len(relative) < len(dir) {
		return relative
	}
	return dir
}
