package verify

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// runReadOnly calls do while the directory is read-only. It also returns an error if
// files changed, because root can write to read-only files.
func runReadOnly(folder string, do func() error) error {
	before, err := hashes(folder)
	if err != nil {
		return err
	}
	if err = permit(folder, 0o555, 0o444); err == nil {
		err = do()
	}
	// Always restore the permissions, so that the directory can be removed.
	err = errors.Join(err, permit(folder, 0o755, 0o644))
	after, failed := hashes(folder)
	if failed != nil {
		return errors.Join(err, failed)
	}
	if changed := changes(before, after); len(changed) > 0 {
		err = errors.Join(err,
			fmt.Errorf("tests write to the module directory, which is read-only in a module cache: use t.TempDir "+
				"instead of\n  %s", strings.Join(changed, "\n  ")))
	}
	return err
}

// permit sets the permissions of all files and directories.
func permit(folder string, dir, file fs.FileMode) error {
	return walk(folder, func(root *os.Root, name string, entry fs.DirEntry) error {
		switch {
		case entry.IsDir():
			return root.Chmod(name, dir)
		case entry.Type().IsRegular():
			return root.Chmod(name, file)
		}
		return nil
	})
}

// hashes returns the hash of each file, and "" for each directory.
func hashes(folder string) (map[string]string, error) {
	all := map[string]string{}
	err := walk(folder, func(root *os.Root, name string, entry fs.DirEntry) error {
		all[name] = ""
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := root.ReadFile(name)
		all[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	return all, err
}

// walk calls do for each file and directory.
func walk(folder string, do func(root *os.Root, name string, entry fs.DirEntry) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return do(root, name, entry)
	})
	return errors.Join(err, root.Close())
}

// changes returns the sorted names of added, removed and changed files.
func changes(before, after map[string]string) []string {
	var names []string
	for name, hash := range after {
		if was, ok := before[name]; !ok || was != hash {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
