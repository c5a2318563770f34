package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// ending returns the file suffix of a picture in a theme.
func ending(t theme) string { return "." + t.name + ".svg" }

// pictures returns the file names of the pictures in dir.
func pictures(dir string) ([]string, error) {
	var names []string
	for _, t := range themes() {
		paths, err := filepath.Glob(filepath.Join(dir, "*"+ending(t)))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
	}
	return names, nil
}

// compare returns the sources without a picture and the pictures without a source, both
// sorted by name.
func compare(sources map[string]source, have []string) (missing []source, left []string) {
	wanted := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		complete := true
		for _, t := range themes() {
			wanted[name+ending(t)] = true
			complete = complete && slices.Contains(have, name+ending(t))
		}
		if !complete {
			missing = append(missing, sources[name])
		}
	}
	left = slices.DeleteFunc(slices.Clone(have), func(name string) bool { return wanted[name] })
	slices.Sort(left)
	return missing, left
}

// String returns the file and the kind of the diagram.
func (s source) String() string {
	kind, _, _ := strings.Cut(s.code, "\n")
	return fmt.Sprintf("%s: the diagram %s (%s)", s.file, s.name(), kind)
}
