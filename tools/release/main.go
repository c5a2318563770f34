// Release proves that the modules of the working tree can be used, and publishes them.
//
//	release plan [MODULE...]        say what has to be released, at which versions, and why
//	release skew [MODULE...]        try released and new versions together
//	release prepare                 make the commit that is released
//	release tag                     give that commit the tags, of all modules or of none
//	release notes MODULE [VERSION]  print what the changelog says of a version
//	release proxy DIR               build a module proxy of the working tree in DIR
//	release tidy [MODULE...]        go mod tidy in every module, or in those named
//	release verify [MODULE...]      build, vet and test every module, or those named, outside the workspace and
//	                                each in an empty module cache
//
// It exits with 0 where it did what was asked, 1 where that failed, and 2 where the
// command line makes no sense.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// errUsage is a command line that makes no sense.
var errUsage = errors.New("see release --help")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code) // stop was called
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	started := false
	root := commands() // each command has the context of its own run
	root.SetArgs(args)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "release:", err)
	if !started || errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

func commands() *cobra.Command {
	root := &cobra.Command{
		Use:           "release",
		Short:         "Prove that the modules of the working tree can be used, and publish them",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(planCommand(), prepareCommand(), skewCommand(), tagCommand(), notesCommand(),
		&cobra.Command{
			Use:   "proxy DIR",
			Short: "Build a module proxy of the working tree in DIR",
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				_, modules, _, err := find(nil)
				if err != nil {
					return err
				}
				return publish(cmd.Context(), args[0], modules)
			},
		},
		&cobra.Command{
			Use:   "tidy [MODULE...]",
			Short: "Run go mod tidy in every module, or in those named",
			RunE: func(cmd *cobra.Command, args []string) error {
				root, modules, chosen, err := find(args)
				if err != nil {
					return err
				}
				return tidy(cmd.Context(), root, modules, chosen)
			},
		},
		&cobra.Command{
			Use:   "verify [MODULE...]",
			Short: "Build, vet and test every module, or those named, outside the workspace",
			RunE: func(cmd *cobra.Command, args []string) error {
				root, modules, chosen, err := find(args)
				if err != nil {
					return err
				}
				return within(cmd.Context(), modules, func(s *sandbox.Sandbox) error {
					return verify(cmd.Context(), s, root, chosen)
				})
			},
		},
	)
	return root
}

// find returns the root of the repository, its modules, and those with the names, or all
// where there are none.
func find(names []string) (root string, modules, chosen []workspace.Module, err error) {
	if root, err = workspace.Find(); err != nil {
		return "", nil, nil, err
	}
	if modules, err = workspace.Modules(root); err != nil {
		return "", nil, nil, err
	}
	if chosen, err = workspace.Choose(modules, names); err != nil {
		return "", nil, nil, fmt.Errorf("%w: %w", err, errUsage)
	}
	return root, modules, chosen, nil
}

// publish puts every module that is released into the proxy at dir.
func publish(ctx context.Context, dir string, modules []workspace.Module) error {
	for _, m := range modules {
		if !m.Released() {
			continue
		}
		if err := modproxy.Add(ctx, dir, m, m.Version); err != nil {
			return err
		}
	}
	return nil
}

// within runs do in a sandbox whose proxy has the modules.
func within(
	ctx context.Context, modules []workspace.Module, do func(*sandbox.Sandbox) error,
) (err error) {
	s, err := sandbox.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Publish(ctx, modules...); err != nil {
		return err
	}
	return do(s)
}
