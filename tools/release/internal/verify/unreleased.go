package verify

import (
	"context"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// copyDir returns the directory with the copy of the tree.
func (v *verifier) copyDir() string { return v.Tree.Path("src") }

// unreleased verifies an unpublished module in a copy of the tree, with the trees of its
// siblings.
func (v *verifier) unreleased(ctx context.Context, m workspace.Module) error {
	if err := v.rules(m); err != nil {
		return err
	}
	folder, cache := filepath.Join(v.copyDir(), filepath.FromSlash(m.Name)), v.Tree.Cache(shared)
	text, err := read(folder, "go.sum")
	if err != nil {
		return err
	}
	if text != nil { // the hashes of tags differ from those of the tree
		file := filepath.Join(folder, "go.sum")
		if err := os.WriteFile(file, sums.Others(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"mod", "tidy"},
		{"build", "./..."},
		{"vet", "./..."},
		{"test", "-short", "-vet=off", "./..."},
	} {
		if err := v.Tree.Go(ctx, folder, cache, args...); err != nil {
			return err
		}
		if args[0] == "mod" {
			if err := checkTidy(m.Dir, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTree copies the files of the working tree.
func copyTree(ctx context.Context, from, to string) error {
	files, err := workspace.Files(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range files {
		source := filepath.Join(from, filepath.FromSlash(name))
		target := filepath.Join(to, filepath.FromSlash(name))
		data, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		info, err := os.Stat(source)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
