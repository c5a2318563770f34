package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/openapi"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

const (
	defaultDocument = "openapi.json"
	toStdout        = "-"
	// serviceTimeout limits the run of the service, which only registers its routes.
	serviceTimeout = 2 * time.Minute
)

// openAPICall is an invocation of openapi with its flags.
type openAPICall struct {
	p             *term.Printer
	output, base  string
	check         bool
	allowBreaking bool
	timeout       time.Duration
}

func newOpenAPI(p *term.Printer) *cobra.Command {
	call := &openAPICall{p: p}
	c := &cobra.Command{
		Use:     "openapi [PACKAGE]",
		GroupID: groupMaintain,
		Short:   "Write or check the OpenAPI document of a service",
		Long: "Write the OpenAPI document of the service in the current directory to openapi.json next to go.mod.\n\n" +
			"The go command builds the main package. The service runs until its routes are registered, opens\n" +
			"neither database nor cache, and writes the document with the descriptions from the doc comments of\n" +
			"its code. It requires the option openapix.Serve(). PACKAGE selects one of several main packages.\n\n" +
			"With --check, the command writes nothing. It prints the differences between the file and the\n" +
			"service, and exits with 3 if the file is out of date or if a change breaks clients. --base compares\n" +
			"with another file or git revision to find breaking changes, such as the main branch in CI.",
		Example: "  plinth openapi\n" +
			"  plinth openapi ./cmd/api --output api/openapi.json\n" +
			"  plinth openapi --check --base origin/main",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(
			*cobra.Command, []string, string,
		) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := call.validate(); err != nil {
				return err
			}
			return call.run(c.Context(), args)
		},
	}
	c.Flags().StringVar(&call.output, "output", "",
		"file of the document, or - for standard output (default: openapi.json next to go.mod)")
	c.Flags().BoolVar(&call.check, "check", false,
		"exit with 3 if the file is out of date or a change is breaking")
	c.Flags().StringVar(&call.base, "base", "",
		"with --check: file, git revision or REVISION:FILE to find breaking changes (default: the file)")
	c.Flags().BoolVar(&call.allowBreaking, "allow-breaking", false,
		"with --check: print breaking changes, but accept them")
	c.Flags().DurationVar(&call.timeout, "timeout", serviceTimeout, "timeout of the service")
	return c
}

func (c *openAPICall) validate() error {
	switch {
	case c.timeout <= 0:
		return usagef("invalid --timeout %s: must be positive", c.timeout)
	case !c.check && c.base != "":
		return usagef("--base requires --check")
	case !c.check && c.allowBreaking:
		return usagef("--allow-breaking requires --check")
	case c.check && c.output == toStdout:
		return usagef("--check cannot be combined with --output -")
	}
	return nil
}

func (c *openAPICall) run(ctx context.Context, args []string) error {
	from, err := os.Getwd()
	if err != nil {
		return err
	}
	s, program, err := findProgram(ctx, args)
	if err != nil {
		return err
	}
	c.p.Step("building %s", program.Folder)
	d, err := openapi.Generate(ctx, s, program, c.timeout)
	if err != nil {
		return err
	}
	if c.output == toStdout {
		c.p.Clear()
		c.p.Printf("%s", d.Text)
		return nil
	}
	// The default is relative to go.mod, the paths of flags to the working directory.
	file := absolute(from, c.output)
	if c.output == "" {
		file, c.output = filepath.Join(s.Root, defaultDocument), defaultDocument
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !c.check {
		return c.write(file, old, d)
	}
	if base := absolute(from, c.base); c.base != "" && isFile(base) {
		c.base = base
	}
	return c.compare(ctx, file, old, d)
}

// findProgram returns the service in the working directory, or in the package of args,
// with its only program.
func findProgram(ctx context.Context, args []string) (*service.Service, service.Program, error) {
	var program service.Program
	s, err := service.Find(".")
	if err != nil {
		return nil, program, err
	}
	if len(args) > 0 {
		if s, err = service.Find(dirOf(s, args[0])); err != nil {
			return nil, program, usagef("invalid PACKAGE %s: %w", args[0], err)
		}
	}
	if s.Module == nil {
		return nil, program, cmp.Or(s.ModuleErr,
			errors.New("no go.mod in this directory or its parents"))
	}
	if err := s.Enter(ctx); err != nil {
		return nil, program, err
	}
	if err := cmp.Or(ctx.Err(), s.CodeErr); err != nil {
		return nil, program, err
	}
	if len(s.Programs) > 1 {
		return nil, program, usagef("the module has several main packages; name one of %s",
			strings.Join(s.Folders(), ", "))
	}
	if program = s.Programs[0]; program.Main == "" {
		return nil, program, errors.New("the module has no main package")
	}
	return s, program, nil
}

// dirOf returns the directory of a package, which is a directory or an import path of the
// module.
func dirOf(s *service.Service, name string) string {
	if s.Module == nil || s.Module.Module == nil {
		return name
	}
	rest, ok := strings.CutPrefix(name+"/", s.Module.Module.Mod.Path+"/")
	if !ok {
		return name
	}
	return filepath.Join(s.Root, filepath.FromSlash(rest))
}

func (c *openAPICall) write(file string, old []byte, d *openapi.Document) error {
	changed := !bytes.Equal(old, d.Text)
	if changed {
		if err := scaffold.WriteFile(filepath.Dir(file), filepath.Base(file), d.Text); err != nil {
			return err
		}
	}
	switch {
	case c.p.JSON:
		return c.p.WriteJSON(struct {
			File       string `json:"file"`
			Operations int    `json:"operations"`
			Changed    bool   `json:"changed"`
		}{file, d.Operations, changed})
	case changed:
		c.p.Done("wrote %s: %s", c.output, plural(d.Operations, "operation"))
	default:
		c.p.Done("%s is up to date: %s", c.output, plural(d.Operations, "operation"))
	}
	return nil
}

// absolute returns path relative to dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
