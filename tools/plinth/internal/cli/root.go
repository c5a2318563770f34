// Package cli implements the commands of the program.
//
// Each command is a function that returns a *cobra.Command and prints through a
// term.Printer. This package defines flags, help and output; other packages implement the
// commands.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/redact"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// IDs of the command groups in the help.
const (
	groupCreate   = "create"
	groupMaintain = "maintain"
)

// Run executes args and returns the exit code. It prints an error once, to p.Err. New
// services use the given module versions.
func Run(ctx context.Context, p *term.Printer, versions scaffold.Versions, args []string) int {
	started := false
	root := newRoot(p, versions, &started)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	p.Clear()
	if err != nil && !started { // cobra rejected a flag, an argument or a command
		err = usageError{err}
	}
	if err != nil && ctx.Err() != nil { // replaces the error that the signal caused
		err = errInterrupted
	}
	code := codeOf(err)
	if err != nil && !errors.Is(err, errFound) {
		_, _ = fmt.Fprintf(p.Err, "plinth: %s\n", redact.Text(strings.TrimSpace(err.Error())))
	}
	if code == exitUsage {
		_, _ = fmt.Fprintf(p.Err, "See %s --help\n", cmd.CommandPath())
	}
	return code
}

// newRoot returns the root command. It sets started when cobra has accepted the command
// line.
func newRoot(p *term.Printer, versions scaffold.Versions, started *bool) *cobra.Command {
	var isJSON, noColor bool
	root := &cobra.Command{
		Use:   "plinth",
		Short: "Create, extend and diagnose services built on Plinth",
		Long: "Create, extend and diagnose services built on Plinth.\n\n" +
			"On a terminal, commands print colors, progress and prompts. Otherwise they print plain text.\n" +
			"With --json, they print JSON.\n\n" + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			*started = true
			p.Configure(isJSON, noColor)
		},
	}
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.PersistentFlags().BoolVar(&isJSON, "json", false,
		"print the result as JSON and do not prompt")
	root.PersistentFlags().BoolVar(&noColor, "no-color", false, "disable colors (like NO_COLOR)")
	root.AddGroup(
		&cobra.Group{ID: groupCreate, Title: "Create and extend a service:"},
		&cobra.Group{ID: groupMaintain, Title: "Inspect and maintain a service:"},
	)
	root.AddCommand( // in the order of the help
		newNew(p, versions), newAdd(p, versions), newGen(p), newEnv(p), newDoctor(p), newMigrate(p),
		newOpenAPI(p), newDocs(p), newVersion(p, versions),
	)
	cobra.EnableCommandSorting = false
	rejectUnknown(root)
	return root
}

// rejectUnknown makes the built-in commands of cobra reject unknown arguments.
func rejectUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("unknown command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			commandGroup(c)
		}
	}
}

// commandGroup makes c a command that only has subcommands and rejects other arguments.
func commandGroup(c *cobra.Command, members ...*cobra.Command) *cobra.Command {
	c.AddCommand(members...)
	c.Args = cobra.ArbitraryArgs // RunE returns a better error
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var names []string
		for _, member := range cmd.Commands() {
			names = append(names, member.Name())
		}
		if len(args) == 0 {
			return usagef("%s requires a subcommand: %s",
				cmd.CommandPath(), strings.Join(names, ", "))
		}
		return usagef("unknown subcommand of %s: %q; available: %s",
			cmd.CommandPath(), args[0], strings.Join(names, ", "))
	}
	return c
}

// oneOf registers values as the completions of a flag.
func oneOf(c *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the command does not have the flag
	}
}
