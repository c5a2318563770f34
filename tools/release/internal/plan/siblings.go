package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/api"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// distributor hands out the versions that it requires: the services that `plinth new`
// makes begin with them.
const distributor = "tools/plinth"

// siblings decides which requirements of the module are raised, each with its reason, and
// which are kept.
func (b *builder) siblings(ctx context.Context, row *Module, m workspace.Module) error {
	if row.State != First {
		if err := b.previous(ctx, row, m); err != nil {
			return err
		}
	}
	if m.Name == distributor && (row.State != Unchanged || len(row.Raises) > 0) {
		b.raise(row, m, b.newest, "new services begin with the versions that it requires")
	}
	if row.State != Unchanged {
		if err := b.required(ctx, row, m); err != nil {
			return err
		}
	}
	b.keep(row, m)
	return nil
}

// raise raises the requirements of older siblings.
func (b *builder) raise(row *Module, m workspace.Module, to stage.Siblings, reason string) {
	for _, need := range m.Siblings() {
		name := short(need.Path)
		if semver.Compare(to[need.Path], need.Version) <= 0 ||
			slices.ContainsFunc(row.Raises, func(r Require) bool { return r.Module == name }) {
			continue
		}
		row.Raises = append(row.Raises,
			Require{Module: name, From: need.Version, To: to[need.Path], Reason: reason})
	}
}

func short(path string) string { return strings.TrimPrefix(path, workspace.Root+"/") }

// untagged raises requirements of versions that nobody can obtain. It refuses those for
// which there is no newer one.
func (b *builder) untagged(row *Module, m workspace.Module) error {
	for _, need := range m.Siblings() {
		sibling, ok := b.stage.ByPath(need.Path)
		newest := b.newest[need.Path]
		switch {
		case !ok || newest == "":
			return fmt.Errorf("it requires %s, which is no module that is released", need)
		case need.Version == newest || b.stage.Tagged(sibling, need.Version):
		case semver.Compare(need.Version, newest) > 0:
			return fmt.Errorf("it requires %s, which has no tag: the newest is %s", need, newest)
		default:
			b.raise(row, m, stage.Siblings{need.Path: newest}, need.Version+" has no tag")
		}
	}
	return nil
}

// previous tries the released version with the siblings that are released next. Where
// they break it, the module follows.
func (b *builder) previous(ctx context.Context, row *Module, m workspace.Module) error {
	file, err := b.stage.FileAt(ctx, m, row.Released)
	if err != nil {
		return err
	}
	before := m
	before.File = file
	next := b.next(before)
	if len(next) == 0 {
		return nil
	}
	if err := b.interfaces(ctx, row, m, next); err != nil {
		return err
	}
	if b.SkipSkew {
		return nil
	}
	broken, err := b.skew.Previous(ctx, before, row.Released, next)
	if err != nil {
		return err
	}
	for _, path := range broken {
		b.breaks(path, row)
		b.raise(row, m, stage.Siblings{path: next[path]},
			fmt.Sprintf("%s fails with %s %s", row.Released, short(path), next[path]))
		if row.State == Unchanged && row.Problem == "" { // the tree is what was tried
			row.Problem = fmt.Sprintf(
				"%s fails with %s %s, and so does the tree, which is the same: mend it",
				row.Released, short(path), next[path])
		}
	}
	return nil
}

// next returns those siblings that are released next, at these versions.
func (b *builder) next(m workspace.Module) stage.Siblings {
	next := stage.Siblings{}
	for _, need := range m.Siblings() {
		if s := b.rows[need.Path]; s != nil && s.Next != "" &&
			semver.Compare(s.Next, need.Version) > 0 {
			next[need.Path] = s.Next
		}
	}
	return next
}

// breaks notes with the sibling that its next version breaks the module's released one.
func (b *builder) breaks(sibling string, row *Module) {
	s, what := b.rows[sibling], row.Name+" "+row.Released
	if !slices.Contains(s.Breaks, what) {
		s.Breaks = append(s.Breaks, what)
	}
}

// interfaces finds drivers that were written for another version of the interface than
// the next one of its package. The trials alone would not always tell: a driver whose
// server is missing skips its tests.
func (b *builder) interfaces(
	ctx context.Context, row *Module, m workspace.Module, next stage.Siblings,
) (err error) {
	for path, version := range next {
		packages := slices.Sorted(maps.Keys(b.moved[path]))
		if len(packages) == 0 {
			continue
		}
		folder, err := b.stage.LayTag(ctx, m, row.Released, nil)
		if err != nil {
			return err
		}
		before, err := api.Written(folder, packages)
		if err = errors.Join(err, os.RemoveAll(filepath.Dir(folder))); err != nil {
			return err
		}
		now, err := api.Written(m.Dir, packages)
		if err != nil {
			return err
		}
		for _, p := range packages {
			to := b.moved[path][p]
			if was, ok := before[p]; ok && was != to {
				b.breaks(path, row)
				b.raise(row, m, stage.Siblings{path: version},
					fmt.Sprintf("the driver interface of %s has moved in %s", short(p), version))
			}
			if is, ok := now[p]; ok && is != to {
				row.Problem = fmt.Sprintf(
					"it was written for version %s of the driver interface of %s, which is %s in %s: mend it", is, short(p), to, version)
			}
		}
	}
	return nil
}

// required tries the tree with the siblings' released versions that it requires. Those
// that it needs newer are raised.
func (b *builder) required(ctx context.Context, row *Module, m workspace.Module) error {
	newer := b.newer(row, m)
	if len(newer) == 0 || b.SkipSkew {
		return nil
	}
	needed, err := b.skew.Required(ctx, m, row.Raised(), newer)
	if err != nil {
		return err
	}
	for _, path := range needed {
		i := slices.IndexFunc(m.Siblings(), func(v module.Version) bool { return v.Path == path })
		b.raise(row, m, stage.Siblings{path: newer[path]},
			"the tree fails with "+short(path)+" "+m.Siblings()[i].Version)
	}
	return nil
}

// newer returns the siblings that the module requires at an older version than there is
// or will be, and that are not raised.
func (b *builder) newer(row *Module, m workspace.Module) stage.Siblings {
	newer, raised := stage.Siblings{}, row.Raised()
	for _, need := range m.Siblings() {
		if newest := b.newest[need.Path]; raised[need.Path] == "" &&
			semver.Compare(newest, need.Version) > 0 {
			newer[need.Path] = newest
		}
	}
	return newer
}

// keep lists the requirements that are not raised although a newer version exists.
func (b *builder) keep(row *Module, m workspace.Module) {
	newer := b.newer(row, m)
	for _, need := range m.Siblings() {
		if newer[need.Path] == "" {
			continue
		}
		row.Keeps = append(row.Keeps, Require{
			Module: short(need.Path), From: need.Version, To: newer[need.Path],
			Reason: b.why(row, need.Path),
		})
	}
}

// why says on what a requirement that is kept rests.
func (b *builder) why(row *Module, sibling string) string {
	with := short(sibling) + " " + b.newest[sibling]
	tried := func(r skew.Run) bool {
		return r.OK && r.Version == row.Released && r.Module == row.Name &&
			slices.Contains(r.With, with)
	}
	proof := " builds, and its tests that need no server pass, with the "
	if b.skew.Servers {
		proof = " builds, and its tests pass, with the "
	}
	switch {
	case b.SkipSkew:
		return "not tried"
	case row.State != Unchanged:
		return "the tree" + proof + "version that it requires"
	case b.rows[sibling].Next == "":
		return "it was tried when " + with + " was released"
	case slices.ContainsFunc(b.skew.Runs, tried):
		return row.Released + proof + "new version"
	}
	return row.Released + " fails with the version that it requires too, so the trial says nothing"
}
