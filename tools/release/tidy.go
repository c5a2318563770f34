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

// tidy runs go mod tidy in the modules. Their siblings answer with the working tree, so that a package which is not published
// yet is found; the siblings' hashes are those of the tags. One that has no tag yet gets none: it changes with every commit.
func tidy(ctx context.Context, root string, modules, chosen []workspace.Module) (err error) {
	s, err := stage.Open(ctx, root, modules)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, m := range modules {
		if err := s.Publish(ctx, m); err != nil {
			return err
		}
	}
	if err := older(ctx, s); err != nil {
		return err
	}
	for _, m := range chosen {
		if err := tidyOne(ctx, s, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// older publishes the tags of versions that modules require and for which the tree does not answer.
func older(ctx context.Context, s *stage.Stage) error {
	var done []string
	for _, m := range s.Modules {
		for _, need := range m.Siblings() {
			sibling, ok := s.ByPath(need.Path)
			tag := sibling.Name + "/" + need.Version
			if !ok || need.Version == sibling.Version || slices.Contains(done, tag) || !s.Tagged(sibling, need.Version) {
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

// tidyOne tidies a module; one that fails keeps its files.
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
	if text, err = sums.Settle(text, func(l sums.Line) (string, error) { return published(ctx, s, l) }); err != nil {
		return err
	}
	if len(text) == 0 {
		return os.Remove(name)
	}
	return os.WriteFile(name, text, 0o600)
}

// published returns the hash of a version's tag, or none where it has no tag.
func published(ctx context.Context, s *stage.Stage, l sums.Line) (string, error) {
	m, ok := s.ByPath(l.Path)
	if !ok || !s.Tagged(m, l.Version) {
		return "", nil
	}
	return s.HashTag(ctx, m, l)
}

// strangers returns the lines of a go.sum that are not of this repository's modules.
func strangers(text string) string { return string(sums.Others([]byte(text))) }
