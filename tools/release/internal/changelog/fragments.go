// Package changelog manages release notes: a fragment per change before the release, and
// a section of CHANGELOG.md per version of a module after it.
package changelog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Folder contains the fragments. .changes/core/any-name.md belongs to the module core.
const Folder = ".changes"

// Fragments contains the notes of a module since its last release.
type Fragments struct {
	Files []string // relative to the root, with slashes, sorted
	Notes string   // their text: Markdown lists
}

// Read reads the fragments of the named modules. It returns an error for files of other
// modules and for text that is not a list.
func Read(root string, modules []string) (map[string]Fragments, error) {
	found := map[string]Fragments{}
	tree := os.DirFS(root)
	var problems []error
	err := fs.WalkDir(tree, Folder, func(file string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		module := strings.TrimPrefix(path.Dir(file), Folder+"/")
		if problem := check(file, string(text), slices.Contains(modules, module)); problem != nil {
			problems = append(problems, problem)
			return nil
		}
		f := found[module]
		f.Files = append(f.Files, file)
		f.Notes += strings.Trim(string(text), "\n") + "\n"
		found[module] = f
		return nil
	})
	return found, errors.Join(append(problems, err)...)
}

func check(file, text string, known bool) error {
	switch {
	case path.Ext(file) != ".md":
		return fmt.Errorf("%s: a fragment must be a .md file", file)
	case !known:
		return fmt.Errorf("%s: the directory does not match a released module", file)
	case !strings.HasPrefix(text, "- "):
		return fmt.Errorf("%s: a fragment must be a list that starts with \"- \"", file)
	case strings.Contains(text, "\n## "):
		return fmt.Errorf("%s: a fragment must not contain a heading of level 2", file)
	}
	return nil
}
