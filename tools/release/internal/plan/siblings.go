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

// distributor is the module whose requirements define the versions of modules in services
// that `plinth new` creates.
const distributor = "tools/plinth"

// siblings decides which requirements of the module are raised and which are kept, with a
// reason for each.
func (b *builder) siblings(ctx context.Context, row *Module, m workspace.Module) error {
	if row.State != First {
		if err := b.testReleased(ctx, row, m); err != nil {
			return err
		}
	}
	if m.Name == distributor && (row.State != Unchanged || len(row.Raises) > 0) {
		b.raise(row, m, b.newest, "new services start with the versions that it requires")
	}
	if row.State != Unchanged {
		if err := b.testTree(ctx, row, m); err != nil {
			return err
		}
	}
	b.keep(row, m)
	return nil
}

// raise raises the requirements of siblings that are older than the versions in to.
func (b *builder) raise(row *Module, m workspace.Module, to stage.Siblings, reason string) {
	for _, need := range m.Siblings() {
		name := shortPath(need.Path)
		if semver.Compare(to[need.Path], need.Version) <= 0 ||
			slices.ContainsFunc(row.Raises, func(r Require) bool { return r.Module == name }) {
			continue
		}
		row.Raises = append(row.Raises,
			Require{Module: name, From: need.Version, To: to[need.Path], Reason: reason})
	}
}

func shortPath(path string) string { return strings.TrimPrefix(path, workspace.Root+"/") }

// raiseUntagged raises requirements of versions without a tag. It returns an error if
// there is no newer version.
func (b *builder) raiseUntagged(row *Module, m workspace.Module) error {
	for _, need := range m.Siblings() {
		sibling, ok := b.stage.ByPath(need.Path)
		newest := b.newest[need.Path]
		switch {
		case !ok || newest == "":
			return fmt.Errorf("go.mod requires %s, which is not a released module", need)
		case need.Version == newest || b.stage.Tagged(sibling, need.Version):
		case semver.Compare(need.Version, newest) > 0:
			return fmt.Errorf("go.mod requires %s, which has no tag: the newest version is %s",
				need, newest)
		default:
			b.raise(row, m, stage.Siblings{need.Path: newest}, need.Version+" has no tag")
		}
	}
	return nil
}

// testReleased tests the released version with the next versions of its siblings. If one
// breaks it, the module needs a release that requires the new version.
func (b *builder) testReleased(ctx context.Context, row *Module, m workspace.Module) error {
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
	if err := b.checkInterfaces(ctx, row, m, next); err != nil {
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
		b.recordBreak(path, row)
		b.raise(row, m, stage.Siblings{path: next[path]},
			fmt.Sprintf("%s fails with %s %s", row.Released, shortPath(path), next[path]))
		if row.State == Unchanged && row.Problem == "" { // the tree equals the tested tag
			row.Problem = fmt.Sprintf(
				"%s fails with %s %s, and the tree is unchanged: fix the code",
				row.Released, shortPath(path), next[path])
		}
	}
	return nil
}

// next returns the required siblings that get a new version.
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

// recordBreak adds the module's released version to the versions that the sibling's next
// version breaks.
func (b *builder) recordBreak(sibling string, row *Module) {
	s, what := b.rows[sibling], row.Name+" "+row.Released
	if !slices.Contains(s.Breaks, what) {
		s.Breaks = append(s.Breaks, what)
	}
}

// checkInterfaces finds drivers that implement another interface version than that of the
// next release. Tests do not always find them, because a driver skips its tests if its
// server is not configured.
func (b *builder) checkInterfaces(
	ctx context.Context, row *Module, m workspace.Module, next stage.Siblings,
) (err error) {
	for path, version := range next {
		packages := slices.Sorted(maps.Keys(b.moved[path]))
		if len(packages) == 0 {
			continue
		}
		folder, err := b.stage.ExtractTag(ctx, m, row.Released, nil)
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
				b.recordBreak(path, row)
				b.raise(row, m, stage.Siblings{path: version},
					fmt.Sprintf("the driver interface of %s changed in %s", shortPath(p), version))
			}
			if is, ok := now[p]; ok && is != to {
				row.Problem = fmt.Sprintf(
					"the driver implements version %s of the interface of %s, "+
						"which has version %s in %s: update the driver",
					is, shortPath(p), to, version)
			}
		}
	}
	return nil
}

// testTree tests the tree with the sibling versions that it requires, and raises the
// requirements that are too old.
func (b *builder) testTree(ctx context.Context, row *Module, m workspace.Module) error {
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
			"the tree fails with "+shortPath(path)+" "+m.Siblings()[i].Version)
	}
	return nil
}

// newer returns the newest versions of the siblings that the module requires at an older
// version and that are not raised.
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
			Module: shortPath(need.Path), From: need.Version, To: newer[need.Path],
			Reason: b.keepReason(row, need.Path),
		})
	}
}

// keepReason returns the reason why a requirement is kept.
func (b *builder) keepReason(row *Module, sibling string) string {
	with := shortPath(sibling) + " " + b.newest[sibling]
	passed := func(r skew.Run) bool {
		return r.OK && r.Version == row.Released && r.Module == row.Name &&
			slices.Contains(r.With, with)
	}
	proof := " builds and passes the tests that need no server with the "
	if b.skew.Servers {
		proof = " builds and passes its tests with the "
	}
	switch {
	case b.SkipSkew:
		return "not tested"
	case row.State != Unchanged:
		return "the tree" + proof + "version that it requires"
	case b.rows[sibling].Next == "":
		return "tested when " + with + " was released"
	case slices.ContainsFunc(b.skew.Runs, passed):
		return row.Released + proof + "new version"
	}
	return row.Released + " also fails with the version that it requires, so the test is inconclusive"
}
