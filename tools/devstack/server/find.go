package server

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// program finds the first of names, in PATH and then in the folders that match the
// patterns; of several folders that differ in a version, the newest counts.
func program(names, patterns []string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	for _, pattern := range patterns {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.SortFunc(dirs, func(a, b string) int { return -compareVersions(a, b) })
		for _, dir := range dirs {
			for _, name := range names {
				if path := filepath.Join(dir, name); executable(path) {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("there is no %s on this machine", strings.Join(names, " or "))
}

// beside finds a program that belongs to another one: in the same folder, with links
// resolved, else like program.
func beside(other string, names, patterns []string) (string, error) {
	folders := []string{filepath.Dir(other)}
	if resolved, err := filepath.EvalSymlinks(other); err == nil {
		folders = append([]string{filepath.Dir(resolved)}, folders...)
	}
	for _, dir := range folders {
		for _, name := range names {
			if path := filepath.Join(dir, name); executable(path) {
				return path, nil
			}
		}
	}
	return program(names, patterns)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

var digits = regexp.MustCompile(`\d+`)

// compareVersions compares the numbers in two texts that are alike otherwise: 9.6 is
// before 15.
func compareVersions(a, b string) int {
	return slices.CompareFunc(digits.FindAllString(a, -1), digits.FindAllString(b, -1),
		func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return cmp.Compare(x, y)
		})
}

var numbers = regexp.MustCompile(`\d+(\.\d+)*`)

// release is the first version number in a text.
func release(text string) string { return numbers.FindString(text) }
