// Package prepare creates the release commit with versions, requirements, hashes of
// siblings and the changelog. The hashes equal those of a public proxy, because the zips
// are equal.
package prepare

import (
	"context"
	"errors"
	"strings"

	"github.com/plinthgo/plinth/tools/release/internal/git"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
)

// Options configures Run.
type Options struct {
	Date string                           // date of the changelog sections, such as 2026-01-31
	Log  func(format string, args ...any) // logs progress; may be nil
}

// A Result is a prepared release.
type Result struct {
	Plan   *plan.Plan
	Commit string // "" if there was nothing to do
	Stat   string // the changed files, as git diff --stat prints them
}

// Run prepares the release that the plan of the repository at root describes. It does
// nothing if the working tree matches the plan. An error leaves the working tree
// unchanged.
func Run(ctx context.Context, root string, o Options) (*Result, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	repo := git.Repo{Root: root}
	if err := repo.Clean(ctx); err != nil {
		return nil, err
	}
	p, err := plan.Make(ctx, root, plan.Options{Log: o.Log})
	if err != nil {
		return nil, err
	}
	if problems := p.Problems(); len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	r := release{root: root, plan: p, log: o.Log, files: map[string][]byte{}}
	if err := r.write(ctx, o.Date); err != nil {
		return nil, err
	}
	result := &Result{Plan: p}
	if len(r.files) == 0 {
		return result, nil
	}
	if err := p.CheckUnchanged(ctx, repo); err != nil {
		return nil, err
	}
	if err := repo.Commit(ctx, r.files, r.message()); err != nil {
		return nil, err
	}
	if result.Commit, err = repo.Head(ctx); err != nil {
		return nil, err
	}
	result.Stat, err = repo.Run(ctx, "diff", "--stat=120", "HEAD^", "HEAD")
	return result, err
}
