package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/doctor"
	"github.com/plinthgo/plinth/tools/plinth/internal/envlist"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// Forms of the list of variables.
const (
	formTable    = "table"
	formMarkdown = "markdown"
	formDotenv   = "dotenv"
	formSchema   = "schema"
)

// envCall is the command env with its flags.
type envCall struct {
	p      *term.Printer
	form   string
	filter envlist.Filter
	groups []string
	check  bool
}

func newEnv(p *term.Printer) *cobra.Command {
	call := &envCall{p: p}
	c := &cobra.Command{
		Use:     "env",
		GroupID: groupCare,
		Short:   "List every variable with its value and where that comes from",
		Long: "List every variable that Plinth reads: type, default, what it accepts and means, the value that the service in this\n" +
			"folder would see, and where that comes from: the environment, .env beside go.mod, or the default. Secrets are masked\n" +
			"in every form. The variables are those that the packages of the service register: the go command builds it to\n" +
			"print them. If it does not build, those of all packages of Plinth are listed, and a warning says so.",
		Example: "  plinth env --group database\n" +
			"  plinth env --set\n" +
			"  plinth env --check --json\n" +
			"  plinth env --format dotenv > .env.example\n" +
			"  plinth env --format schema > env.schema.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return call.run(c.Context()) },
	}
	forms := []string{formTable, formMarkdown, formDotenv, formSchema}
	c.Flags().StringVar(&call.form, "format", formTable, "form of the list: "+strings.Join(forms, ", "))
	c.Flags().StringVar(&call.filter.Group, "group", "", "only the groups whose name holds this text, such as cache")
	c.Flags().BoolVar(&call.filter.OnlySet, "set", false, "only the variables that are set")
	c.Flags().BoolVar(&call.check, "check", false, "exit with 3 where a value is wrong")
	oneOf(c, "format", forms...)
	oneOf(c, "group", envlist.Groups(service.Registered())...)
	return c
}

func (c *envCall) run(ctx context.Context) error {
	s, err := enter(ctx, c.p)
	if err != nil {
		return err
	}
	if len(s.Programs) > 0 {
		c.p.Step("building the service")
	}
	if s.ReadVariables(ctx); s.VariablesErr != nil {
		c.p.Warn("%s: %v", doctor.VariablesUnknown, s.VariablesErr)
	}
	rows := envlist.Read(s, c.filter)
	c.groups = envlist.Groups(s.Variables)
	if len(rows) == 0 && c.filter.Group != "" && !c.filter.OnlySet {
		return usagef("there is no group %q, but: %s", c.filter.Group, strings.Join(c.groups, ", "))
	}
	if err := c.show(rows); err != nil {
		return err
	}
	problems := envlist.Problems(rows)
	if !c.p.JSON {
		for _, line := range problems {
			_, _ = fmt.Fprintf(c.p.Err, "problem: %s\n", line)
		}
	}
	for _, n := range s.File.Bad {
		c.p.Warn("%s: line %d is not NAME=value", s.File.Path, n)
	}
	if c.check && len(problems)+len(s.File.Bad) > 0 {
		return errFound
	}
	return nil
}

func (c *envCall) show(rows []envlist.Row) error {
	if c.p.JSON && c.form != formTable && c.form != formSchema {
		return usagef("--json and --format %s are two forms", c.form)
	}
	switch c.form {
	case formTable:
		if c.p.JSON {
			return c.p.WriteJSON(struct {
				Variables []envlist.Row `json:"variables"`
			}{append([]envlist.Row{}, rows...)})
		}
		c.table(rows)
	case formMarkdown:
		c.p.Printf("%s", envlist.Markdown(rows))
	case formDotenv:
		c.p.Printf("%s", envlist.Dotenv(rows))
	case formSchema:
		return c.p.WriteJSON(envlist.SchemaOf(rows))
	default:
		return usagef("there is no format %q, but: table, markdown, dotenv, schema", c.form)
	}
	return nil
}

// table shows one table a group at a terminal, and one in all elsewhere.
func (c *envCall) table(rows []envlist.Row) {
	if !c.p.IsTerminal() {
		cells := make([][]string, len(rows))
		for i, r := range rows {
			cells[i] = []string{r.Name, r.Type, orDash(r.Default), orDash(r.Value), string(r.Source), r.Group, meaningOf(r)}
		}
		c.p.Table([]string{"VARIABLE", "TYPE", "DEFAULT", "VALUE", "FROM", "GROUP", "MEANING"}, cells)
		return
	}
	for _, group := range c.groups {
		var cells [][]string
		for _, r := range rows {
			if r.Group == group {
				cells = append(cells, []string{r.Name, r.Type, orDash(r.Default), c.value(r), c.source(r), meaningOf(r)})
			}
		}
		if len(cells) > 0 {
			c.p.Printf("\n%s\n", c.p.Paint(term.Strong, group))
			c.p.Table([]string{"Variable", "Type", "Default", "Value", "From", "Meaning"}, cells)
		}
	}
}

func (c *envCall) value(r envlist.Row) string {
	if r.Problem != "" {
		return c.p.Paint(term.Bad, r.Value)
	}
	return orDash(r.Value)
}

func (c *envCall) source(r envlist.Row) string {
	if r.IsSet() {
		return c.p.Paint(term.Good, string(r.Source))
	}
	return c.p.Paint(term.Faint, string(r.Source))
}

func meaningOf(r envlist.Row) string {
	text := r.Meaning
	if r.Accepted != "" {
		text += " Accepted: " + r.Accepted + "."
	}
	return text
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// enter returns the service of the working directory, with its .env and its own defaults in the environment. It warns of defaults
// that it could not read.
func enter(ctx context.Context, p *term.Printer) (*service.Service, error) {
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
		p.Warn("the defaults in the code are not known: %v", s.CodeErr)
	}
	for _, line := range s.Unclear {
		p.Warn("%s", line)
	}
	return s, ctx.Err()
}
