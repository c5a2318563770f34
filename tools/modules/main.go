// Modules does with the modules of the working tree what the go command cannot do before they are
// published: they resolve one another through a module proxy that is built from the tree.
//
//	modules proxy DIR      build the proxy in DIR
//	modules tidy [NAME]    go mod tidy in every module, or in those named
//	modules verify [NAME]  build, vet and test every module, or those named, outside the workspace and
//	                       each in an empty module cache
//
// The shared module cache is never touched: it would keep the unpublished versions for ever.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
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
		return within(ctx, modules, func(s *sandbox) error {
			if args[0] == "tidy" {
				return s.tidy(ctx, chosen)
			}
			return s.verify(ctx, root, chosen)
		})
	}
	return errors.New("usage: modules proxy DIR | tidy [NAME...] | verify [NAME...]")
}

// publish puts every module into the proxy at dir.
func publish(ctx context.Context, dir string, modules []workspace.Module) error {
	for _, m := range modules {
		if err := modproxy.Add(ctx, dir, m, workspace.NextVersion); err != nil {
			return err
		}
	}
	return nil
}
