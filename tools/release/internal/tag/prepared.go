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

// checker computes and caches the hashes of versions with a tag and of versions to be
// tagged.
type checker struct {
	stage  *stage.Stage
	repo   git.Repo
	hashes map[sums.Line]string // key: the line without its hash
}

// checkPrepared returns an error with all problems if the tree is not the result of
// release prepare: its tags would be incomplete.
func checkPrepared(ctx context.Context, s *stage.Stage, repo git.Repo) error {
	c := &checker{stage: s, repo: repo, hashes: map[sums.Line]string{}}
	var problems []error
	for _, m := range s.Modules {
		var err error
		switch {
		case !m.Released():
		case s.Tagged(m, m.Version):
			err = c.checkUnchanged(ctx, m)
		default:
			err = c.checkSums(ctx, m)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.Name, err))
		}
	}
	return errors.Join(problems...)
}

// checkPlan returns an error if the plan still contains changes. This happens if a commit
// after release prepare needs another version, adds notes or causes a problem.
func checkPlan(p *plan.Plan, modules []workspace.Module) error {
	var problems []error
	for _, row := range p.Modules {
		i := slices.IndexFunc(modules, func(m workspace.Module) bool { return m.Name == row.Name })
		var what string
		switch {
		case row.Problem != "":
			what = row.Problem
		case row.Next != "" && row.Next != modules[i].Version:
			what = fmt.Sprintf("the next version is %s, but go.work contains %s",
				row.Next, modules[i].Version)
		case len(row.Fragments) > 0:
			what = "the changelog lacks " + strings.Join(row.Fragments, ", ")
		case len(row.Raises) > 0:
			what = fmt.Sprintf("go.mod must require %s %s", row.Raises[0].Module, row.Raises[0].To)
		default:
			continue
		}
		problems = append(problems,
			fmt.Errorf("%s: %s: the tree is not the result of release prepare", row.Name, what))
	}
	return errors.Join(problems...)
}

// checkUnchanged returns an error if the module changed since the tag of its version.
// Tags never move.
func (c *checker) checkUnchanged(ctx context.Context, m workspace.Module) error {
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
	return fmt.Errorf(
		"tag %s is on commit %.12s, but the module has changed since, and tags are never moved: "+
			"run release prepare", m.Tag(m.Version), commit)
}

// checkSums returns an error if go.sum lacks the hash of a sibling, or has another hash
// than a public proxy will compute.
func (c *checker) checkSums(ctx context.Context, m workspace.Module) error {
	text, err := modproxy.Overlay{}.Read(m, "go.sum")
	if err != nil {
		return err
	}
	have := map[sums.Line]bool{}
	for _, line := range sums.Ours(text) {
		if err := c.checkHash(ctx, line); err != nil {
			return err
		}
		line.Hash = ""
		have[line] = true
	}
	return checkMissing(m, have)
}

// checkHash returns an error if the hash of the line is wrong.
func (c *checker) checkHash(ctx context.Context, line sums.Line) error {
	sibling, ok := c.stage.ByPath(line.Path)
	if !ok {
		return fmt.Errorf("go.sum contains %s, which is not a module of the tree", line.Path)
	}
	want, err := c.hash(ctx, sibling, line)
	if err == nil && line.Hash != want {
		err = fmt.Errorf("go.sum has a wrong hash for %s %s: run release prepare",
			sibling.Name, line.Version)
	}
	return err
}

// checkMissing returns an error if go.sum lacks the hashes of a sibling. An indirect
// requirement needs only the hash of its go.mod.
func checkMissing(m workspace.Module, have map[sums.Line]bool) error {
	for _, r := range m.File.Require {
		if !strings.HasPrefix(r.Mod.Path, workspace.Root+"/") {
			continue
		}
		zip := sums.Line{Path: r.Mod.Path, Version: r.Mod.Version}
		mod := sums.Line{Path: r.Mod.Path, Version: r.Mod.Version, Mod: true}
		if !have[mod] || !r.Indirect && !have[zip] {
			return fmt.Errorf("go.sum lacks %s: run release prepare", r.Mod)
		}
	}
	return nil
}

// hash computes the hash that go.sum must contain, from the version's tag or from the
// tree if the version has no tag yet.
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

// tree computes the hash of the tree or of its go.mod.
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
