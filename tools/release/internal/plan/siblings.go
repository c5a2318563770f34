package plan

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// siblings raises the requirements of those siblings of which the next version breaks what the present one promised.
func (b *builder) siblings(row *Module, m workspace.Module) {
	for _, need := range m.Siblings() {
		if s := b.rows[need.Path]; s.Next != "" && len(s.API.Breaking) > 0 {
			b.raise(row, m, stage.Siblings{need.Path: s.Next}, fmt.Sprintf("%s %s breaks what it had promised", s.Name, s.Next))
		}
	}
}

// raise raises the requirements of those siblings that are older.
func (b *builder) raise(row *Module, m workspace.Module, to stage.Siblings, reason string) {
	for _, need := range m.Siblings() {
		name := strings.TrimPrefix(need.Path, workspace.Root+"/")
		if semver.Compare(to[need.Path], need.Version) <= 0 || slices.ContainsFunc(row.Raises, func(r Require) bool { return r.Module == name }) {
			continue
		}
		row.Raises = append(row.Raises, Require{Module: name, From: need.Version, To: to[need.Path], Reason: reason})
	}
}

// untagged raises requirements of versions that nobody can obtain. It refuses those for which there is no newer one.
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
