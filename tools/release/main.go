// Release proves that the modules of the working tree can be used, and publishes them.
//
//	release proxy DIR      build a module proxy of the working tree in DIR
//	release tidy [NAME]    go mod tidy in every module, or in those named
//	release verify [NAME]  build, vet and test every module, or those named, outside the workspace and
//	                       each in an empty module cache
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, args []string) error {
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "proxy":
		return publish(ctx, args[1], modules)
	case len(args) >= 1 && (args[0] == "tidy" || args[0] == "verify"):
		chosen, err := workspace.Choose(modules, args[1:])
		if err != nil {
			return err
		}
		return within(ctx, modules, func(s *sandbox.Sandbox) error {
			if args[0] == "tidy" {
				return tidy(ctx, s, chosen)
			}
			return verify(ctx, s, root, chosen)
		})
	}
	return errors.New("usage: release proxy DIR | tidy [NAME...] | verify [NAME...]")
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
func within(ctx context.Context, modules []workspace.Module, do func(*sandbox.Sandbox) error) (err error) {
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
