package main

import (
	"context"
	"os"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	proof "github.com/plinthgo/plinth/tools/release/internal/verify"
)

// verify proves that others can use the modules; the sandbox's proxy has their trees.
func verify(ctx context.Context, s *sandbox.Sandbox, root string, chosen []workspace.Module) error {
	return proof.Run(ctx, proof.Options{Root: root, Chosen: chosen, Tree: s, Out: os.Stdout})
}
