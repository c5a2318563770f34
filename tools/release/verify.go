package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// goVersion is the language version that every module states.
const goVersion = "1.25.0"

// verify proves every module on its own.
func verify(ctx context.Context, s *sandbox.Sandbox, root string, modules []workspace.Module) error {
	copied := s.Path("src")
	if err := copyTree(ctx, root, copied); err != nil {
		return err
	}
	return workspace.InLanes(modules, func(m workspace.Module) error {
		start := time.Now()
		err := errors.Join(rules(m, modules), prove(ctx, s, copied, m))
		word := "ok"
		if err != nil {
			word = "FAIL"
		}
		_, _ = fmt.Fprintf(os.Stdout, "%-24s %-4s %s\n", m.Name, word, time.Since(start).Round(time.Second))
		return err
	})
}

// rules are what the files of a module must say.
func rules(m workspace.Module, all []workspace.Module) error {
	var problems []error
	if m.File.Go == nil || m.File.Go.Version != goVersion {
		problems = append(problems, errors.New("go.mod does not state go "+goVersion))
	}
	if m.File.Toolchain != nil {
		problems = append(problems, errors.New("go.mod has a toolchain line"))
	}
	if len(m.File.Replace) > 0 {
		problems = append(problems, errors.New("go.mod has a replace"))
	}
	for _, sibling := range m.Siblings() {
		for _, have := range all {
			if have.Path() == sibling.Path && have.Version != sibling.Version {
				problems = append(problems, fmt.Errorf("go.mod requires %s, not %s", sibling, have.Version))
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(m.Dir, "LICENSE"))
	if err != nil || !bytes.Contains(text, []byte("Apache License")) {
		problems = append(problems, errors.New("no Apache LICENSE"))
	}
	return errors.Join(problems...)
}

// prove builds, vets and tests the module's copy in an empty module cache, and refuses what only the
// workspace made up for.
func prove(ctx context.Context, s *sandbox.Sandbox, copied string, m workspace.Module) error {
	folder := filepath.Join(copied, filepath.FromSlash(m.Name))
	cache := s.Cache(m.Name)
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "-short", "./..."}} {
		if err := s.Go(ctx, folder, cache, args...); err != nil {
			return err
		}
	}
	if err := unchanged(m.Dir, folder); err != nil {
		return err
	}
	// Not with -diff, which also shows the siblings' hashes: go.sum does not have them.
	return errors.Join(s.Go(ctx, folder, cache, "mod", "tidy"), unchanged(m.Dir, folder))
}

// unchanged refuses a go.mod or go.sum that the go command had to complete; the siblings' hashes are
// never kept.
func unchanged(before, after string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		want, err := os.ReadFile(filepath.Join(before, name))
		if err != nil {
			return err
		}
		have, err := os.ReadFile(filepath.Join(after, name))
		if err != nil {
			return err
		}
		if strangers(string(have)) != strangers(string(want)) {
			return fmt.Errorf("%s is not complete: run make tidy", name)
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
		source, target := filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name))
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
