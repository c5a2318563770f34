package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// tidy runs go mod tidy in the modules. Released modules use the tags of their siblings,
// like consumers. Unreleased modules, and siblings without a tag, use the working tree.
// go.sum contains the hashes of tags only, because the hash of an untagged version
// changes with every commit.
func tidy(ctx context.Context, root string, modules, chosen []workspace.Module) error {
	released, others := split(chosen)
	return errors.Join(
		tidyWith(ctx, root, modules, released,
			func(s *stage.Stage, m workspace.Module) bool { return !s.Tagged(m, m.Version) }),
		tidyWith(ctx, root, modules, others,
			func(*stage.Stage, workspace.Module) bool { return true }),
	)
}

// split returns the released and the unreleased modules.
func split(modules []workspace.Module) (released, others []workspace.Module) {
	for _, m := range modules {
		if m.Released() {
			released = append(released, m)
		} else {
			others = append(others, m)
		}
	}
	return released, others
}

// tidyWith tidies the chosen modules. tree reports whether they use the working tree of a
// sibling instead of its tag.
func tidyWith(
	ctx context.Context, root string, modules, chosen []workspace.Module,
	tree func(*stage.Stage, workspace.Module) bool,
) (err error) {
	if len(chosen) == 0 {
		return nil
	}
	s, err := stage.Open(ctx, root, modules)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, m := range modules {
		if tree(s, m) {
			err = s.Publish(ctx, m)
		} else {
			err = s.PublishTag(ctx, m, m.Version)
		}
		if err != nil {
			return err
		}
	}
	if err := publishOlder(ctx, s); err != nil {
		return err
	}
	for _, m := range chosen {
		if err := tidyOne(ctx, s, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// publishOlder publishes the tags of required versions that differ from the working tree.
func publishOlder(ctx context.Context, s *stage.Stage) error {
	var done []string
	for _, m := range s.Modules {
		for _, need := range m.Siblings() {
			sibling, ok := s.ByPath(need.Path)
			tag := sibling.Name + "/" + need.Version
			if !ok || need.Version == sibling.Version || slices.Contains(done, tag) ||
				!s.Tagged(sibling, need.Version) {
				continue
			}
			done = append(done, tag)
			if err := modproxy.AddTag(ctx, s.Proxy(), s.Root, sibling, need.Version); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidyOne tidies a module. If that fails, its files are unchanged.
func tidyOne(ctx context.Context, s *stage.Stage, m workspace.Module) error {
	name := filepath.Join(m.Dir, "go.sum")
	before, err := os.ReadFile(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if !missing {
		if err := os.WriteFile(name, sums.Others(before), 0o600); err != nil {
			return err
		}
	}
	if err := s.Go(ctx, m.Dir, s.Cache("tidy"), "mod", "tidy"); err != nil {
		if !missing {
			err = errors.Join(err, os.WriteFile(name, before, 0o600))
		}
		return err
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err = sums.ReplaceHashes(text, func(l sums.Line) (string, error) {
		return hashOf(ctx, s, l)
	})
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return os.Remove(name)
	}
	return os.WriteFile(name, text, 0o600)
}

// hashOf returns the hash of a tagged version, or "" if the version has no tag.
func hashOf(ctx context.Context, s *stage.Stage, l sums.Line) (string, error) {
	m, ok := s.ByPath(l.Path)
	if !ok || !s.Tagged(m, l.Version) {
		return "", nil
	}
	return s.HashTag(ctx, m, l)
}
