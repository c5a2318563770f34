package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/changelog"
)

// notes gives each module that is released what is told of it: its fragments, and what
// the plan itself knows.
func (b *builder) notes(root string, modules []workspace.Module) error {
	var names []string
	for _, m := range modules {
		if m.Released() {
			names = append(names, m.Name)
		}
	}
	fragments, err := changelog.Read(root, names)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, changelog.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, row := range b.rows {
		if row.Next == "" {
			continue
		}
		f := fragments[row.Name]
		row.Fragments, row.Notes = f.Files, f.Notes+b.told(row)
		_, rolled := changelog.Section(string(text), row.Name, row.Next)
		if f.Notes == "" && !rolled && row.State != Follows && row.Problem == "" {
			row.Problem = fmt.Sprintf("nothing says what has changed: write %s/%s/<a name>.md",
				changelog.Folder, row.Name)
		}
	}
	return nil
}

// newestOf returns the newest version of the named module.
func (b *builder) newestOf(name string) string {
	for path, row := range b.rows {
		if row.Name == name {
			return b.newest[path]
		}
	}
	return ""
}

// told is what follows from the plan: whom the release breaks, and what it needs.
func (b *builder) told(row *Module) string {
	var notes strings.Builder
	for _, what := range row.Breaks {
		name, _, _ := strings.Cut(what, " ")
		fmt.Fprintf(&notes, "- Does not work with %s: take %s or later.\n", what, b.newestOf(name))
	}
	for _, r := range row.Raises {
		fmt.Fprintf(&notes, "- Requires %s %s.\n", r.Module, r.To)
	}
	return notes.String()
}
