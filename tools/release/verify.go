package main

import (
	"context"
	"os"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	proof "github.com/plinthgo/plinth/tools/release/internal/verify"
)

// verify checks that consumers can use the modules. The proxy of the sandbox must contain
// the trees of all modules.
func verify(ctx context.Context, s *sandbox.Sandbox, root string, chosen []workspace.Module) error {
	return proof.Run(ctx, proof.Options{Root: root, Chosen: chosen, Tree: s, Out: os.Stdout})
}
