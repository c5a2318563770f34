package prepare

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// work adds go.work to the files if it changes. Its replace directives cover the versions
// of the tree and the versions that modules of the tree require.
func (r release) work(modules []workspace.Module) error {
	name := filepath.Join(r.root, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return err
	}
	wanted, err := r.versions(modules)
	if err != nil {
		return err
	}
	if err := replace(file, modules, wanted); err != nil {
		return err
	}
	if after := modfile.Format(file.Syntax); !bytes.Equal(text, after) {
		r.files["go.work"] = after
	}
	return nil
}

// replace makes the replace directives of the file match the wanted versions.
func replace(file *modfile.WorkFile, modules []workspace.Module, wanted map[string][]string) error {
	for _, r := range slices.Clone(file.Replace) {
		if have := wanted[r.Old.Path]; have == nil || slices.Contains(have, r.Old.Version) {
			continue
		}
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	for _, m := range modules {
		for _, version := range wanted[m.Path()] {
			if err := file.AddReplace(m.Path(), version, "./"+m.Name, ""); err != nil {
				return err
			}
		}
	}
	file.SortBlocks()
	file.Cleanup()
	return nil
}

// versions returns the versions that go.work must replace, by the import path of a
// released module.
func (r release) versions(modules []workspace.Module) (map[string][]string, error) {
	wanted := map[string][]string{}
	for _, m := range modules {
		if next := r.row(m.Name).Next; next != "" {
			wanted[m.Path()] = []string{next}
		} else if m.Released() {
			wanted[m.Path()] = []string{m.Version}
		}
	}
	for _, m := range modules {
		if text := r.files[path.Join(m.Name, "go.mod")]; text != nil {
			file, err := modfile.Parse(m.Name, text, nil)
			if err != nil {
				return nil, err
			}
			m.File = file
		}
		for _, need := range m.Siblings() {
			if have := wanted[need.Path]; have != nil && !slices.Contains(have, need.Version) {
				wanted[need.Path] = append(have, need.Version)
			}
		}
	}
	return wanted, nil
}
