package tag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/git"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// checker knows the hashes of what has a tag or is to get one.
type checker struct {
	stage  *stage.Stage
	repo   git.Repo
	hashes map[sums.Line]string // by the line without its hash
}

// prepared refuses a tree that is not what prepare has made: whoever obtained its tags
// would find that something is missing. All that is wrong is named.
func prepared(ctx context.Context, s *stage.Stage, repo git.Repo) error {
	c := &checker{stage: s, repo: repo, hashes: map[sums.Line]string{}}
	var problems []error
	for _, m := range s.Modules {
		var err error
		switch {
		case !m.Released():
		case s.Tagged(m, m.Version):
			err = c.unchanged(ctx, m)
		default:
			err = c.complete(ctx, m)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.Name, err))
		}
	}
	return errors.Join(problems...)
}

// left refuses a tree of which the plan still has something to say: what was committed
// after prepare, and needs another version, has notes of its own, or a problem.
func left(p *plan.Plan, modules []workspace.Module) error {
	var problems []error
	for _, row := range p.Modules {
		i := slices.IndexFunc(modules, func(m workspace.Module) bool { return m.Name == row.Name })
		var what string
		switch {
		case row.Problem != "":
			what = row.Problem
		case row.Next != "" && row.Next != modules[i].Version:
			what = fmt.Sprintf("the next version is %s, and go.work says %s",
				row.Next, modules[i].Version)
		case len(row.Fragments) > 0:
			what = "the changelog lacks " + strings.Join(row.Fragments, ", ")
		case len(row.Raises) > 0:
			what = fmt.Sprintf("it has to require %s %s", row.Raises[0].Module, row.Raises[0].To)
		default:
			continue
		}
		problems = append(problems,
			fmt.Errorf("%s: %s: this is not what release prepare has made", row.Name, what))
	}
	return errors.Join(problems...)
}

// unchanged refuses a module that has changed since the tag of its version: the tag is
// never moved.
func (c *checker) unchanged(ctx context.Context, m workspace.Module) error {
	tag, err := c.hash(ctx, m, sums.Line{Path: m.Path(), Version: m.Version})
	if err != nil {
		return err
	}
	now, err := tree(ctx, m, sums.Line{Path: m.Path(), Version: m.Version})
	if err != nil || now == tag {
		return err
	}
	commit, err := c.repo.CommitOf(ctx, m.Tag(m.Version))
	if err != nil {
		return err
	}
	return fmt.Errorf("the tag %s is on commit %.12s, and the module has changed since; tags are never moved: run release prepare", m.Tag(m.Version), commit)
}

// complete refuses a go.sum that lacks the hash of a sibling, or has another than a
// public proxy will compute.
func (c *checker) complete(ctx context.Context, m workspace.Module) error {
	text, err := modproxy.Overlay{}.Read(m, "go.sum")
	if err != nil {
		return err
	}
	have := map[sums.Line]bool{}
	for _, line := range sums.Ours(text) {
		if err := c.same(ctx, line); err != nil {
			return err
		}
		line.Hash = ""
		have[line] = true
	}
	return lacks(m, have)
}

// same refuses a line whose hash is not that of what it names.
func (c *checker) same(ctx context.Context, line sums.Line) error {
	sibling, ok := c.stage.ByPath(line.Path)
	if !ok {
		return fmt.Errorf("go.sum names %s, which is no module of the tree", line.Path)
	}
	want, err := c.hash(ctx, sibling, line)
	if err == nil && line.Hash != want {
		err = fmt.Errorf("go.sum has another hash of %s %s than its zip: run release prepare",
			sibling.Name, line.Version)
	}
	return err
}

// lacks refuses a go.sum without the hashes of a sibling. What is required for the sake
// of others may have that of its go.mod alone.
func lacks(m workspace.Module, have map[sums.Line]bool) error {
	for _, r := range m.File.Require {
		if !strings.HasPrefix(r.Mod.Path, workspace.Root+"/") {
			continue
		}
		zip, mod := sums.Line{Path: r.Mod.Path, Version: r.Mod.Version},
			sums.Line{Path: r.Mod.Path, Version: r.Mod.Version, Mod: true}
		if !have[mod] || !r.Indirect && !have[zip] {
			return fmt.Errorf("go.sum lacks %s: run release prepare", r.Mod)
		}
	}
	return nil
}

// hash computes what go.sum has to say: of the version's tag, or of the tree where that
// is to get it.
func (c *checker) hash(
	ctx context.Context, m workspace.Module, line sums.Line,
) (hash string, err error) {
	line.Hash = ""
	if c.hashes[line] != "" {
		return c.hashes[line], nil
	}
	switch {
	case c.stage.Tagged(m, line.Version):
		hash, err = c.stage.HashTag(ctx, m, line)
	case line.Version == m.Version:
		hash, err = tree(ctx, m, line)
	default:
		err = fmt.Errorf("%s %s has no tag: run release prepare", m.Name, line.Version)
	}
	c.hashes[line] = hash
	return hash, err
}

// tree computes the hash of the tree, or of its go.mod.
func tree(ctx context.Context, m workspace.Module, line sums.Line) (string, error) {
	if !line.Mod {
		return modproxy.Hash(func(w io.Writer) error {
			return modproxy.Pack(ctx, w, m, line.Version)
		})
	}
	text, err := modproxy.Overlay{}.Read(m, "go.mod")
	if err != nil {
		return "", err
	}
	return modproxy.HashMod(text)
}
