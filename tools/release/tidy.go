package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// tidy runs go mod tidy in the modules and leaves out the siblings' hashes, which
// change with every commit.
func tidy(ctx context.Context, s *sandbox.Sandbox, modules []workspace.Module) error {
	for _, m := range modules {
		if err := s.Go(ctx, m.Dir, s.Cache("tidy"), "mod", "tidy"); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		sums := filepath.Join(m.Dir, "go.sum")
		text, err := os.ReadFile(sums)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(sums, []byte(strangers(string(text))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// strangers returns the lines of a go.sum that are not of this repository's modules.
func strangers(sums string) string {
	var b strings.Builder
	for line := range strings.Lines(sums) {
		if !strings.HasPrefix(line, workspace.Root+"/") {
			b.WriteString(line)
		}
	}
	return b.String()
}
