// Package dotenv reads a .env file as the start of a service does, and says where it is wrong.
package dotenv

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/joho/godotenv"
)

// maxBadLines bounds how many wrong lines are looked for: each costs a search.
const maxBadLines = 20

// File is what a file says. One that is not there says nothing.
type File struct {
	Path   string
	Exists bool
	Values map[string]string
	// Bad are the numbers of the lines that are not NAME=value; Values is what the others say.
	Bad []int
}

// Read reads the file at path. That it is not there is no error.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Exists: true}
	f.Values, f.Bad = parse(string(text))
	return f, nil
}

// parse returns what a text says without its wrong lines, and the numbers of these.
func parse(text string) (values map[string]string, bad []int) {
	const byteOrderMark = "\ufeff"
	lines := strings.SplitAfter(strings.TrimPrefix(text, byteOrderMark), "\n")
	for len(bad) < maxBadLines {
		values, ok := parseLines(lines)
		if ok {
			return values, bad
		}
		n := firstBad(lines)
		bad = append(bad, n)
		lines[n-1] = "\n"
	}
	return nil, bad
}

// parseLines reports whether all lines name variables that can be set. The parser's own error quotes values.
func parseLines(lines []string) (values map[string]string, ok bool) {
	values, err := godotenv.Unmarshal(strings.Join(lines, ""))
	if err != nil {
		return nil, false
	}
	for name, value := range values {
		if name == "" || strings.ContainsRune(value, 0) {
			return nil, false
		}
	}
	return values, true
}

// firstBad returns the number of the first wrong line: the one after the longest beginning that has none.
func firstBad(lines []string) int {
	for n := len(lines) - 1; n > 0; n-- {
		if _, ok := parseLines(lines[:n]); ok {
			return n + 1
		}
	}
	return 1
}
