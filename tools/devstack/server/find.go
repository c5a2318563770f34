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

// program searches for the first of names in PATH and then in the directories that match
// patterns. It prefers directories with a higher version.
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
	return "", fmt.Errorf("%s is not installed", strings.Join(names, " or "))
}

// siblingProgram searches for a program in the directory of another program, with
// symbolic links resolved, and then in the same places as program.
func siblingProgram(other string, names, patterns []string) (string, error) {
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

// compareVersions compares the numbers in two strings: 9.6 is less than 15.
func compareVersions(a, b string) int {
	return slices.CompareFunc(digits.FindAllString(a, -1), digits.FindAllString(b, -1),
		func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return cmp.Compare(x, y)
		})
}

var numbers = regexp.MustCompile(`\d+(\.\d+)*`)

// release returns the first version number in text.
func release(text string) string { return numbers.FindString(text) }
