package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/api"
	"github.com/plinthgo/plinth/tools/release/internal/git"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// builder plans the modules in dependency order, so that the versions of a module's
// siblings are decided before the module.
type builder struct {
	Options

	stage  *stage.Stage
	skew   skew.Runner
	rows   map[string]*Module // by import path
	newest stage.Siblings     // of each module: its next version, or the newest tag
	// packages whose driver interface version changed, by module path, with the new
	// version
	moved map[string]map[string]string
}

func build(ctx context.Context, root string, o Options) (p *Plan, err error) {
	modules, err := workspace.Modules(root)
	if err != nil {
		return nil, err
	}
	chosen, err := workspace.Choose(modules, o.Modules)
	if err != nil {
		return nil, err
	}
	sorted, err := workspace.InOrder(modules)
	if err != nil {
		return nil, err
	}
	s, err := stage.Open(ctx, root, modules)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := &builder{
		Options: o, stage: s, rows: map[string]*Module{}, newest: stage.Siblings{},
		moved: map[string]map[string]string{},
	}
	b.skew = skew.Runner{Stage: s, Report: b.report, Servers: hasServers(os.Environ())}
	for _, m := range sorted {
		if !needed(m, chosen, modules) {
			continue
		}
		if err := b.module(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return b.finish(ctx, root, modules, chosen)
}

// needed reports whether the module is one of the chosen modules or a direct or indirect
// requirement of one.
func needed(m workspace.Module, chosen, all []workspace.Module) bool {
	for _, c := range chosen {
		if c.Name == m.Name {
			return true
		}
		var siblings []workspace.Module
		for _, s := range c.Siblings() {
			i := slices.IndexFunc(all, func(m workspace.Module) bool { return m.Path() == s.Path })
			if i >= 0 {
				siblings = append(siblings, all[i])
			}
		}
		if needed(m, siblings, all) {
			return true
		}
	}
	return false
}

// report logs the result of a run.
func (b *builder) report(r skew.Run) {
	word := "ok"
	if !r.OK {
		word = "FAILS"
	}
	b.Log("%s (%s) with %s: %s", r.Module, r.Version, strings.Join(r.With, ", "), word)
	if !r.OK {
		b.Log("%s", r.Output)
	}
}

// module plans one module. Its siblings must be planned already.
func (b *builder) module(ctx context.Context, m workspace.Module) error {
	row := &Module{Name: m.Name, State: Unchanged, Released: b.stage.Latest(m)}
	b.rows[m.Path()] = row
	if !m.Released() {
		row.State = Unreleased
		b.raise(row, m, b.newest, "the module is never released and requires the newest versions")
		return nil
	}
	if err := b.raiseUntagged(row, m); err != nil {
		return err
	}
	differs, err := b.compare(ctx, row, m)
	if err != nil {
		return err
	}
	if err := b.siblings(ctx, row, m); err != nil {
		return err
	}
	if differs { // with the siblings that it will require
		if err := b.compareAPI(ctx, row, m); err != nil {
			return err
		}
	}
	b.decide(row, m)
	if row.Next == "" {
		b.newest[m.Path()] = row.Released
		return b.stage.PublishTag(ctx, m, row.Released)
	}
	b.newest[m.Path()] = row.Next
	return b.publish(ctx, row, m)
}

// publish adds the next version to the proxy, for the modules that require it.
func (b *builder) publish(ctx context.Context, row *Module, m workspace.Module) error {
	mod, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return err
	}
	if mod, err = stage.Raise(mod, row.Raised()); err != nil {
		return err
	}
	return modproxy.AddWith(ctx, b.stage.Proxy(), m, row.Next, modproxy.Overlay{"go.mod": mod})
}

// Raised returns the new versions of the module's raised requirements.
func (m *Module) Raised() stage.Siblings {
	to := stage.Siblings{}
	for _, r := range m.Raises {
		to[workspace.Root+"/"+r.Module] = r.To
	}
	return to
}

// compare reports whether the module differs from its newest tag.
func (b *builder) compare(
	ctx context.Context, row *Module, m workspace.Module,
) (differs bool, err error) {
	if row.Released == "" {
		row.State = First
		return false, nil
	}
	tag, err := modproxy.Hash(func(w io.Writer) error {
		return modproxy.PackTag(w, b.stage.Root, m, row.Released)
	})
	if err != nil {
		return false, err
	}
	tree, err := modproxy.Hash(func(w io.Writer) error {
		return modproxy.Pack(ctx, w, m, row.Released)
	})
	if err != nil {
		return false, err
	}
	if tag == tree {
		if b.hasNewVersion(row, m) {
			row.State = Changed
		}
		return false, nil
	}
	row.State = Changed
	row.Reasons = append(row.Reasons, "its zip differs from "+row.Released)
	return true, nil
}

// compareAPI compares the API with the newest stable version, or with the newest tag if
// there is no stable version: prereleases have no compatibility promise.
func (b *builder) compareAPI(ctx context.Context, row *Module, m workspace.Module) error {
	since := cmp.Or(b.stage.Stable(m), row.Released)
	b.Log("%s changed since %s: comparing the API with %s", m.Name, row.Released, since)
	old, err := b.load(ctx, m, since, nil)
	if err != nil {
		return fmt.Errorf("load the API of %s: %w", since, err)
	}
	raised := row.Raised()
	now, err := b.load(ctx, m, skew.Tree, raised)
	switch {
	case err != nil && len(raised) > 0:
		row.Problem = cmp.Or(row.Problem,
			"the tree does not build with the raised requirements: fix the code")
		now, err = b.load(ctx, m, skew.Tree, nil)
	case err != nil && b.SkipSkew: // no test has determined the siblings that it needs
		now, err = b.load(ctx, m, skew.Tree, b.newest)
	}
	if err != nil {
		return fmt.Errorf("load the API of the tree: %w", err)
	}
	row.API = api.Compare(old, now)
	b.moved[m.Path()] = api.Moved(old, now)
	return nil
}

// load reads the API of a tag, or of the tree with raised requirements.
func (b *builder) load(
	ctx context.Context, m workspace.Module, version string, raise stage.Siblings,
) (loaded api.Module, err error) {
	folder := ""
	if version == skew.Tree {
		folder, err = b.stage.ExtractTree(ctx, m, raise)
	} else {
		folder, err = b.stage.ExtractTag(ctx, m, version, raise)
	}
	if err != nil {
		return api.Module{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(folder))) }()
	return api.Load(ctx, b.stage.Sandbox, folder, b.stage.Cache("skew"), m.Path())
}

// hasServers reports whether the environment configures servers for the tests.
func hasServers(env []string) bool {
	return slices.ContainsFunc(env, func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "PLINTH_TEST_") &&
			(strings.HasSuffix(name, "_DSN") || strings.HasSuffix(name, "_URL")) && value != ""
	})
}

// finish adds the notes and returns the plan of the chosen modules.
func (b *builder) finish(
	ctx context.Context, root string, modules, chosen []workspace.Module,
) (*Plan, error) {
	if err := b.notes(root, modules); err != nil {
		return nil, err
	}
	repo := git.Repo{Root: root}
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Commit: head, Clean: repo.Clean(ctx) == nil, Modules: []Module{}, Skew: b.skew.Runs,
		Skipped: b.SkipSkew,
	}
	for _, m := range chosen {
		p.Modules = append(p.Modules, *b.rows[m.Path()])
	}
	if p.Skew == nil {
		p.Skew = []skew.Run{}
	}
	return p, nil
}
