// Package tag tags the release commit: one tag for each module with a new version. It
// creates all tags or fails.
package tag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/changelog"
	"github.com/plinthgo/plinth/tools/release/internal/git"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// Run tags HEAD for each module whose version in go.work has no tag, and returns the
// names of the tags. With a remote, it pushes them and the existing tags of HEAD. If the
// push fails, it deletes the new tags.
func Run(ctx context.Context, root, remote string) (names []string, err error) {
	repo := git.Repo{Root: root}
	if err := repo.Clean(ctx); err != nil {
		return nil, err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return nil, err
	}
	s, err := stage.Open(ctx, root, modules)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := checkPrepared(ctx, s, repo); err != nil {
		return nil, err
	}
	tags, err := missing(s)
	if err != nil {
		return nil, err
	}
	p, err := plan.Make(ctx, root, plan.Options{SkipSkew: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkPlan(p, modules), p.CheckUnchanged(ctx, repo)); err != nil {
		return nil, err
	}
	return publish(ctx, s, repo, p.Commit, remote, tags)
}

// publish creates the tags and pushes them if a remote is given.
func publish(
	ctx context.Context, s *stage.Stage, repo git.Repo, head, remote string, tags []git.Tag,
) ([]string, error) {
	if err := repo.CreateTags(ctx, head, tags); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tags {
		names = append(names, t.Name)
	}
	if remote == "" {
		return names, nil
	}
	before, err := tagsOf(ctx, s, repo, head)
	if err == nil {
		names = append(before, names...)
		err = repo.PushTags(ctx, remote, names)
	}
	if err != nil {
		return nil, errors.Join(err, repo.DeleteTags(context.WithoutCancel(ctx), tags))
	}
	return names, nil
}

// tagsOf returns the names of the existing tags of HEAD.
func tagsOf(ctx context.Context, s *stage.Stage, repo git.Repo, head string) ([]string, error) {
	var names []string
	for _, m := range s.Modules {
		if !m.Released() || !s.Tagged(m, m.Version) {
			continue
		}
		name := m.Tag(m.Version)
		commit, err := repo.CommitOf(ctx, name)
		if err != nil {
			return nil, err
		}
		if commit == head {
			names = append(names, name)
		}
	}
	return names, nil
}

// missing returns the tags to create.
func missing(s *stage.Stage) ([]git.Tag, error) {
	text, err := os.ReadFile(filepath.Join(s.Root, changelog.File))
	if err != nil {
		return nil, err
	}
	var tags []git.Tag
	for _, m := range s.Modules {
		if !m.Released() || s.Tagged(m, m.Version) {
			continue
		}
		notes, ok := changelog.Section(string(text), m.Name, m.Version)
		if !ok {
			return nil, fmt.Errorf("%s has no section for %s %s: run release prepare",
				changelog.File, m.Name, m.Version)
		}
		tags = append(tags, git.Tag{
			Name:    m.Tag(m.Version),
			Message: m.Name + " " + m.Version + "\n\n" + strings.TrimSpace(notes),
		})
	}
	return tags, nil
}
