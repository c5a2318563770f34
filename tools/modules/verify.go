package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// goVersion is the language version that every module states.
const goVersion = "1.25.0"

// verify proves every module on its own.
func (s *sandbox) verify(ctx context.Context, root string, modules []workspace.Module) error {
	copied := filepath.Join(s.dir, "src")
	if err := copyTree(ctx, root, copied); err != nil {
		return err
	}
	return workspace.InLanes(modules, func(m workspace.Module) error {
		start := time.Now()
		err := errors.Join(rules(m), s.prove(ctx, copied, m))
		word := "ok"
		if err != nil {
			word = "FAIL"
		}
		_, _ = fmt.Fprintf(os.Stdout, "%-24s %-4s %s\n", m.Name, word, time.Since(start).Round(time.Second))
		return err
	})
}

// rules are what the files of a module must say.
func rules(m workspace.Module) error {
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
	for _, r := range m.File.Require {
		if strings.HasPrefix(r.Mod.Path, workspace.Root+"/") && r.Mod.Version != workspace.NextVersion {
			problems = append(problems, fmt.Errorf("go.mod requires %s, not %s", r.Mod, workspace.NextVersion))
		}
	}
	text, err := os.ReadFile(filepath.Join(m.Dir, "LICENSE"))
	if err != nil || !strings.Contains(string(text), "Apache License") {
		problems = append(problems, errors.New("no Apache LICENSE"))
	}
	return errors.Join(problems...)
}

// prove builds, vets and tests the module's copy in an empty module cache, and refuses what only the
// workspace made up for.
func (s *sandbox) prove(ctx context.Context, copied string, m workspace.Module) error {
	folder := filepath.Join(copied, filepath.FromSlash(m.Name))
	cache := filepath.Join(s.dir, "caches", cacheName(m))
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "-short", "./..."}} {
		if err := s.do(ctx, folder, cache, args...); err != nil {
			return err
		}
	}
	if err := unchanged(m.Dir, folder); err != nil {
		return err
	}
	// Not with -diff, which also shows the siblings' hashes: go.sum does not have them.
	return errors.Join(s.do(ctx, folder, cache, "mod", "tidy"), unchanged(m.Dir, folder))
}

// cacheName is one folder's name, so that no module's cache lies inside that of a module around it.
func cacheName(m workspace.Module) string { return strings.ReplaceAll(m.Name, "/", "+") }

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
