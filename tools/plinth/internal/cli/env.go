package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/doctor"
	"github.com/plinthgo/plinth/tools/plinth/internal/envlist"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// formats are the output formats of env.
var formats = []string{"table", "markdown", "dotenv", "schema"}

// envCall is an invocation of env with its flags.
type envCall struct {
	p      *term.Printer
	format string
	filter envlist.Filter
	groups []string
	check  bool
}

func newEnv(p *term.Printer) *cobra.Command {
	call := &envCall{p: p}
	c := &cobra.Command{
		Use:     "env",
		GroupID: groupMaintain,
		Short:   "List configuration variables with their values and sources",
		Long: "List every variable that the service in the current directory reads, with type, default, accepted\n" +
			"values, meaning, value and source. The source is the environment, .env next to go.mod, the code\n" +
			"or the default. Secrets are masked in all formats.\n\n" +
			"The go command builds the service to list the variables that its packages register. If the build\n" +
			"fails, the command prints a warning and lists the variables of all packages of Plinth.",
		Example: "  plinth env --group database\n" +
			"  plinth env --set\n" +
			"  plinth env --check --json\n" +
			"  plinth env --format dotenv > .env.example\n" +
			"  plinth env --format schema > env.schema.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return call.run(c.Context())
		},
	}
	c.Flags().StringVar(&call.format, "format", formats[0],
		"output format: "+strings.Join(formats, ", "))
	c.Flags().StringVar(&call.filter.Group, "group", "",
		"only groups whose name contains this text, such as cache")
	c.Flags().BoolVar(&call.filter.OnlySet, "set", false, "only variables that are set")
	c.Flags().BoolVar(&call.check, "check", false, "exit with 3 if a value is invalid")
	oneOf(c, "format", formats...)
	oneOf(c, "group", envlist.Groups(service.Registered())...)
	return c
}

func (c *envCall) run(ctx context.Context) error {
	s, err := findService(ctx, c.p)
	if err != nil {
		return err
	}
	c.readVariables(ctx, s)
	rows := envlist.Read(s, c.filter)
	if len(rows) == 0 && c.filter.Group != "" && !c.filter.OnlySet {
		return usagef("unknown group %q; available: %s",
			c.filter.Group, strings.Join(c.groups, ", "))
	}
	if err := c.show(rows); err != nil {
		return err
	}
	if problems := c.report(rows, s.File.Bad); c.check && problems > 0 {
		return errFound
	}
	return nil
}

// readVariables reads the variables that the service registers. If that fails, it prints
// a warning and lists the variables of Plinth.
func (c *envCall) readVariables(ctx context.Context, s *service.Service) {
	if len(s.Programs) > 0 {
		c.p.Step("building the service")
	}
	if s.ReadVariables(ctx); s.VariablesErr != nil {
		c.p.Warn("%s: %v", doctor.VariablesUnknown, s.VariablesErr)
	}
	c.groups = envlist.Groups(s.Variables)
}

// report prints the invalid values and the invalid lines of .env, and returns their
// number.
func (c *envCall) report(rows []envlist.Row, badLines []int) int {
	problems := envlist.Problems(rows)
	if !c.p.JSON {
		for _, line := range problems {
			_, _ = fmt.Fprintf(c.p.Err, "problem: %s\n", line)
		}
	}
	for _, n := range badLines {
		c.p.Warn(".env: line %d is not NAME=value", n)
	}
	return len(problems) + len(badLines)
}

func (c *envCall) show(rows []envlist.Row) error {
	switch {
	case !slices.Contains(formats, c.format):
		return usagef("unknown format %q; available: %s", c.format, strings.Join(formats, ", "))
	case c.format == "schema":
		return c.p.WriteJSON(envlist.SchemaOf(rows))
	case c.format != "table" && c.p.JSON:
		return usagef("--json cannot be combined with --format %s", c.format)
	case c.format == "markdown":
		c.p.Printf("%s", envlist.Markdown(rows))
	case c.format == "dotenv":
		c.p.Printf("%s", envlist.Dotenv(rows))
	case c.p.JSON:
		all := append([]envlist.Row{}, rows...) // [] instead of null
		return c.p.WriteJSON(map[string][]envlist.Row{"variables": all})
	default:
		c.table(rows)
	}
	return nil
}

// table prints one table per group to a terminal, and a single table otherwise.
func (c *envCall) table(rows []envlist.Row) {
	headers := []string{"VARIABLE", "TYPE", "DEFAULT", "VALUE", "FROM", "MEANING"}
	if !c.p.IsTerminal() {
		c.p.Table(slices.Insert(headers, 5, "GROUP"), c.cells(rows, true))
		return
	}
	for _, group := range c.groups {
		others := func(r envlist.Row) bool { return r.Group != group }
		if own := slices.DeleteFunc(slices.Clone(rows), others); len(own) > 0 {
			c.p.Printf("\n%s\n", c.p.Paint(term.Strong, group))
			c.p.Table(headers, c.cells(own, false))
		}
	}
}

func (c *envCall) cells(rows []envlist.Row, withGroup bool) [][]string {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		value, from := orDash(r.Value), c.p.Paint(term.Faint, string(r.Source))
		if r.Problem != "" {
			value = c.p.Paint(term.Bad, r.Value)
		}
		if r.IsSet() {
			from = c.p.Paint(term.Good, string(r.Source))
		}
		meaning := r.Meaning
		if r.Accepted != "" {
			meaning += " Accepted: " + r.Accepted + "."
		}
		cells[i] = []string{r.Name, r.Type, orDash(r.Default), value, from, meaning}
		if withGroup {
			cells[i] = slices.Insert(cells[i], 5, r.Group)
		}
	}
	return cells
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// findService returns the service of the working directory and applies its .env and the
// defaults of its code to the environment. It prints a warning for each default that it
// cannot read.
func findService(ctx context.Context, p *term.Printer) (*service.Service, error) {
	s, err := service.Find(".")
	if err != nil {
		return nil, err
	}
	if s.FileErr != nil {
		return nil, s.FileErr
	}
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	if s.CodeErr != nil {
		p.Warn("cannot read the defaults in the code: %v", s.CodeErr)
	}
	for _, line := range s.Unclear {
		p.Warn("%s", line)
	}
	return s, ctx.Err()
}
