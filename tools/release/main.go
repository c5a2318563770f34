// Release verifies and publishes the modules of the working tree.
//
//	release plan [MODULE...]        print the modules to release, their versions and reasons
//	release skew [MODULE...]        test released and new versions together
//	release prepare                 create the release commit
//	release tag                     create tags at the release commit for all modules with a new version
//	release notes MODULE [VERSION]  print the changelog of a version
//	release proxy DIR               create a module proxy of the working tree in DIR
//	release tidy [MODULE...]        run go mod tidy in all or the named modules
//	release verify [MODULE...]      build, vet and test all or the named modules outside of the
//	                                workspace, each with an empty module cache
//
// The exit code is 0 on success, 1 on failure and 2 for an invalid command line.
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

// errUsage is wrapped by errors of an invalid command line.
var errUsage = errors.New("see release --help")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal exits at once
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code) // stop was called
}

// run executes the command line and returns the exit code.
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
		Short:         "Verify and publish the modules of the working tree",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(planCommand(), prepareCommand(), skewCommand(), tagCommand(), notesCommand(),
		&cobra.Command{
			Use:   "proxy DIR",
			Short: "Create a module proxy of the working tree in DIR",
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
			Short: "Run go mod tidy in all or the named modules",
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
			Short: "Build, vet and test all or the named modules outside of the workspace",
			RunE: func(cmd *cobra.Command, args []string) error {
				root, modules, chosen, err := find(args)
				if err != nil {
					return err
				}
				return withSandbox(cmd.Context(), modules, func(s *sandbox.Sandbox) error {
					return verify(cmd.Context(), s, root, chosen)
				})
			},
		},
	)
	return root
}

// find returns the root of the repository, its modules, and the named modules, or all
// modules if names is empty.
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

// publish adds the released modules to the proxy at dir.
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

// withSandbox calls do with a sandbox whose proxy contains the modules.
func withSandbox(
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
