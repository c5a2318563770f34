// Package cli holds the commands of the program.
//
// Each command is one function that returns a *cobra.Command and prints through the
// term.Printer it was given. What a command does is in a package of its own; here stand
// its flags, its help and how its result is shown.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/plinth/internal/hush"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// Groups of the help.
const (
	groupBegin = "begin"
	groupCare  = "care"
)

// Run does what the arguments say and returns the exit code. What is wrong stands on the
// printer's Err, once. The modules of services have the versions.
func Run(ctx context.Context, p *term.Printer, versions scaffold.Versions, args []string) int {
	began := false
	root := newRoot(p, versions, &began)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	p.Clear()
	// cobra refused it: a flag, an argument or a command that there is not
	if err != nil && !began {
		err = usageError{err}
	}
	if err != nil && ctx.Err() != nil { // in the place of what the signal has caused
		err = errInterrupted
	}
	code := codeOf(err)
	if err != nil && !errors.Is(err, errFound) {
		_, _ = fmt.Fprintf(p.Err, "plinth: %s\n", hush.Mask(strings.TrimSpace(err.Error())))
	}
	if code == exitUsage {
		_, _ = fmt.Fprintf(p.Err, "See %s --help\n", cmd.CommandPath())
	}
	return code
}

// newRoot makes the program's command. began becomes true when cobra has accepted the
// command line.
func newRoot(p *term.Printer, versions scaffold.Versions, began *bool) *cobra.Command {
	var isJSON, noColor bool
	root := &cobra.Command{
		Use:   "plinth",
		Short: "Begin a service on Plinth, extend it, and find what is wrong with it",
		Long: "Begin a service on Plinth, extend it, and find what is wrong with it.\n\n" +
			"People at a terminal see colour, progress and questions; everything else gets plain lines, or JSON with --json.\n\n" + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			*began = true
			p.Configure(isJSON, noColor)
		},
	}
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.PersistentFlags().BoolVar(&isJSON, "json",
		false, "print the result as JSON, and ask nothing")
	root.PersistentFlags().BoolVar(&noColor, "no-color",
		false, "print without colour (so does NO_COLOR)")
	root.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "Begin and extend a service:"},
		&cobra.Group{ID: groupCare, Title: "Look after a service:"},
	)
	root.AddCommand( // in the order of the help
		newNew(p, versions), newAdd(p, versions), newGen(p), newEnv(p), newDoctor(p), newMigrate(p),
		newDocs(p), newVersion(p, versions),
	)
	cobra.EnableCommandSorting = false
	strict(root)
	return root
}

// strict makes the commands that cobra adds by itself refuse what they do not know.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			family(c)
		}
	}
}

// family makes c a command that only holds others, and refuses what is none of them.
func family(c *cobra.Command, members ...*cobra.Command) *cobra.Command {
	c.AddCommand(members...)
	c.Args = cobra.ArbitraryArgs // RunE says more of them
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var names []string
		for _, member := range cmd.Commands() {
			names = append(names, member.Name())
		}
		if len(args) == 0 {
			return usagef("%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
		}
		return usagef("there is no %s %q, but: %s",
			cmd.CommandPath(), args[0], strings.Join(names, ", "))
	}
	return c
}

// oneOf completes a flag with these values.
func oneOf(c *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // a flag that the command does not have
	}
}
