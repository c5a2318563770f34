// Package sums reads and writes the hashes of modules of this repository in go.sum files.
package sums

import (
	"bytes"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// A Line is a line of go.sum: the hash of the zip or the go.mod of a version.
type Line struct {
	Path, Version string
	Mod           bool // the hash is that of go.mod
	Hash          string
}

// String returns the line in the format of go.sum, with a newline.
func (l Line) String() string {
	mod := ""
	if l.Mod {
		mod = "/go.mod"
	}
	return l.Path + " " + l.Version + mod + " " + l.Hash + "\n"
}

// Others returns the lines of third-party modules.
func Others(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if _, ours := parse(line); !ours {
			b.Write(line)
		}
	}
	return b.Bytes()
}

// Ours returns the lines of modules of this repository.
func Ours(text []byte) []Line {
	var lines []Line
	for line := range bytes.Lines(text) {
		if l, ours := parse(line); ours {
			lines = append(lines, l)
		}
	}
	return lines
}

// ReplaceHashes replaces the hashes of this repository's modules with the results of
// hash. If hash returns "", it removes the line.
func ReplaceHashes(text []byte, hash func(Line) (string, error)) ([]byte, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		l, ours := parse(line)
		if !ours {
			b.Write(line)
			continue
		}
		h, err := hash(l)
		if err != nil {
			return nil, err
		}
		if l.Hash = h; h != "" {
			b.WriteString(l.String())
		}
	}
	return b.Bytes(), nil
}

func parse(line []byte) (Line, bool) {
	fields := strings.Fields(string(line))
	if len(fields) != 3 || !strings.HasPrefix(fields[0], workspace.Root+"/") {
		return Line{}, false
	}
	version, mod := strings.CutSuffix(fields[1], "/go.mod")
	return Line{Path: fields[0], Version: version, Mod: mod, Hash: fields[2]}, true
}
