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

// newCall is an invocation of new with its flags.
type newCall struct {
	p        *term.Printer
	cmd      *cobra.Command
	versions scaffold.Versions
	spec     scaffold.Spec
	dir      string
	yes      bool
	noTidy   bool
}

func newNew(p *term.Printer, versions scaffold.Versions) *cobra.Command {
	call := &newCall{p: p, versions: versions}
	c := &cobra.Command{
		Use:     "new [module]",
		GroupID: groupCreate,
		Short:   "Create a service",
		Long: "Create a service with one entity, its HTTP API and tests, a Dockerfile, a Compose file, Kubernetes\n" +
			"manifests, a Makefile, CI and AGENTS.md.\n\n" +
			"The command writes all files or none into a new or empty directory, and runs go mod tidy. On a\n" +
			"terminal, it prompts for options that no flag sets; --yes uses the defaults instead.",
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
	flags.StringVar(&call.spec.Database, "db", databases[0],
		"database: "+strings.Join(databases, ", "))
	flags.StringVar(&call.spec.Cache, "cache", caches[0], "cache: "+strings.Join(caches, ", "))
	flags.BoolVar(&call.spec.GRPC, "grpc", false, "add a gRPC server")
	flags.BoolVar(&call.spec.Async, "async", false,
		"add background jobs, durable if there is a database")
	flags.BoolVar(&call.spec.Cron, "cron", false, "add scheduled jobs")
	flags.BoolVar(&call.spec.Mail, "mail", false,
		"add mail, stored until sent if there is a database")
	flags.StringVar(&call.dir, "dir", "", "directory of the service (default: name of the module)")
	flags.BoolVarP(&call.yes, "yes", "y", false, "do not prompt")
	flags.BoolVar(&call.noTidy, "no-tidy", false, "do not run go mod tidy")
	oneOf(c, "db", databases...)
	oneOf(c, "cache", caches...)
	return c
}

// choices returns the names of the backends, followed by catalog.None.
func choices(backends []catalog.Backend) []string {
	return append(catalog.Names(backends), catalog.None)
}

func (c *newCall) run(ctx context.Context, args []string) error {
	if len(args) == 1 {
		c.spec.Module = args[0]
	}
	if c.p.Interactive && !c.yes {
		if err := c.prompt(ctx); err != nil {
			return err
		}
	}
	if c.spec.Module == "" {
		return usagef("new requires a module path, such as example.com/shop")
	}
	s, err := scaffold.NewService(c.spec, c.versions)
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
	c.p.Done("created %s in %s: %d files", s.Module, relativeTo(dir), len(files))
	if tidied {
		c.p.Done("ran go mod tidy")
	}
	c.p.Note("\n  %s", strings.Join(next, "\n  "))
	return nil
}

// nextSteps returns the commands that start the service and send a first request.
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

// relativeTo returns dir relative to the working directory if that is shorter.
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
