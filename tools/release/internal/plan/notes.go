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

// notes sets the release notes of each released module: its fragments and the notes that
// the plan generates.
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
		row.Fragments, row.Notes = f.Files, f.Notes+b.generatedNotes(row)
		_, hasSection := changelog.Section(string(text), row.Name, row.Next)
		if f.Notes == "" && !hasSection && row.State != Follows && row.Problem == "" {
			row.Problem = fmt.Sprintf("changelog fragment is missing: add %s/%s/<name>.md",
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

// generatedNotes returns notes about the versions that the release breaks and about
// raised requirements.
func (b *builder) generatedNotes(row *Module) string {
	var notes strings.Builder
	for _, what := range row.Breaks {
		name, _, _ := strings.Cut(what, " ")
		fmt.Fprintf(&notes, "- Does not work with %s: upgrade to %s or later.\n",
			what, b.newestOf(name))
	}
	for _, r := range row.Raises {
		fmt.Fprintf(&notes, "- Requires %s %s.\n", r.Module, r.To)
	}
	return notes.String()
}
