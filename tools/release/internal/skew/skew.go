// Package skew tests combinations of module versions, because users upgrade modules one
// by one.
package skew

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// A Run is the build, vet and test of a module with given versions of its siblings.
type Run struct {
	Module  string   `json:"module"`
	Version string   `json:"version"` // the tag, or "tree"
	With    []string `json:"with"`    // every sibling that it requires: "core v0.2.0"
	OK      bool     `json:"ok"`
	Output  string   `json:"output,omitempty"` // output of the failed command
}

// Tree is the version of an unpublished module.
const Tree = "tree"

// A Runner tests combinations.
type Runner struct {
	Stage   *stage.Stage
	Report  func(Run) // called after each run; may be nil
	Servers bool      // the environment configures servers: run all tests instead of the short ones
	Runs    []Run
}

// Previous tests the module's tag with new versions of its siblings, and returns the
// siblings that break it. A failure that also occurs with the required versions, such as
// an unavailable server, does not count.
func (r *Runner) Previous(
	ctx context.Context, m workspace.Module, version string, siblings stage.Siblings,
) ([]string, error) {
	if len(siblings) == 0 {
		return nil, nil
	}
	ok, err := r.run(ctx, m, version, siblings)
	if err != nil || ok {
		return nil, err
	}
	if ok, err = r.run(ctx, m, version, stage.Siblings{}); err != nil {
		return nil, err
	}
	if !ok { // the new versions are not the cause
		return nil, nil
	}
	all := slices.Sorted(maps.Keys(siblings))
	if len(all) == 1 {
		return all, nil
	}
	var broken []string
	for _, path := range all {
		ok, err := r.run(ctx, m, version, stage.Siblings{path: siblings[path]})
		if err != nil {
			return nil, err
		}
		if !ok {
			broken = append(broken, path)
		}
	}
	if len(broken) == 0 { // only the combination fails
		return all, nil
	}
	return broken, nil
}

// Required tests the module's tree with the sibling versions that it requires, and
// returns the siblings whose newest version it needs. newest contains the siblings that
// have a newer version, raised those whose requirement is raised already.
func (r *Runner) Required(
	ctx context.Context, m workspace.Module, raised, newest stage.Siblings,
) ([]string, error) {
	ok, err := r.run(ctx, m, Tree, raised)
	if err != nil || ok {
		return nil, err
	}
	all := slices.Sorted(maps.Keys(newest))
	if len(all) > 1 {
		for _, path := range all {
			ok, err := r.run(ctx, m, Tree, union(raised, stage.Siblings{path: newest[path]}))
			if err != nil {
				return nil, err
			}
			if ok {
				return []string{path}, nil
			}
		}
	}
	ok, err = r.run(ctx, m, Tree, union(raised, newest))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf(
			"%s fails with the required and with the newest versions of its siblings:\n%s",
			m.Name, r.Runs[len(r.Runs)-1].Output)
	}
	return all, nil
}

// run tests one combination. It returns an error if the test could not run, for example
// because a download failed.
func (r *Runner) run(
	ctx context.Context, m workspace.Module, version string, raise stage.Siblings,
) (ok bool, err error) {
	folder, err := r.extract(ctx, m, version, raise)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(folder))) }()
	cache := r.Stage.Cache("skew")
	if err := r.Stage.Go(ctx, folder, cache, "mod", "download"); err != nil {
		return false, fmt.Errorf("%s: %w", m.Name, err)
	}
	run := Run{Module: m.Name, Version: version, With: siblings(m, raise), OK: true}
	// A failed test is repeated once, because a busy machine can cause a failure. go vet
	// ran with all checks before.
	test := []string{"test", "-short", "-vet=off", "./..."}
	if r.Servers {
		test = []string{"test", "-vet=off", "./..."}
	}
	build, vet := []string{"build", "./..."}, []string{"vet", "./..."}
	if failed := r.commands(ctx, folder, cache, build, vet); failed != nil {
		run.OK, run.Output = false, brief(failed)
	} else if r.commands(ctx, folder, cache, test) != nil {
		if failed := r.commands(ctx, folder, cache, test); failed != nil {
			run.OK, run.Output = false, brief(failed)
		}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	r.Runs = append(r.Runs, run)
	if r.Report != nil {
		r.Report(run)
	}
	return run.OK, nil
}

// commands runs go commands until one fails.
func (r *Runner) commands(ctx context.Context, folder, cache string, commands ...[]string) error {
	for _, args := range commands {
		if err := r.Stage.Go(ctx, folder, cache, args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) extract(
	ctx context.Context, m workspace.Module, version string, raise stage.Siblings,
) (string, error) {
	if version == Tree {
		return r.Stage.ExtractTree(ctx, m, raise)
	}
	return r.Stage.ExtractTag(ctx, m, version, raise)
}

// brief removes packages without failures from the output.
func brief(err error) string {
	var b strings.Builder
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, "?   \t") && !strings.HasPrefix(line, "ok  \t") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// union returns the union of a and b.
func union(a, b stage.Siblings) stage.Siblings {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// siblings returns the sibling versions of a run: the raised version, or the one that the
// module requires.
func siblings(m workspace.Module, raise stage.Siblings) []string {
	named := []string{}
	for _, need := range m.Siblings() {
		version := need.Version
		if raised := raise[need.Path]; raised != "" {
			version = raised
		}
		named = append(named, strings.TrimPrefix(need.Path, workspace.Root+"/")+" "+version)
	}
	slices.Sort(named)
	return named
}
