package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	guide     = "../../docs/content/guide/grpc.md"
	pageRoot  = "example.com/notes"
	notesRoot = "github.com/plinthgo/plinth/examples/grpc/notes"
)

var imports = regexp.MustCompile(`(?s)import \((.*?)\n\)`)

// TestGuideQuotesCompiledCode finds every block of Go and of proto on the page in a file here, but for the name of the
// module. Space does not count, nor does the order of imports, which the name changes.
func TestGuideQuotesCompiledCode(t *testing.T) {
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || ext != ".go" && ext != ".proto" {
			return err
		}
		text, err := os.ReadFile(path)
		sources = append(sources, squeeze(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```(?:go|proto)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) < 8 {
		t.Errorf("%d blocks, want every file of the program", len(found))
	}
	for _, block := range found {
		code := squeeze(strings.ReplaceAll(block[1], pageRoot, notesRoot))
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, code) }) {
			t.Errorf("this is in no file:\n%s", block[1])
		}
	}
}

// squeeze makes every run of white space one blank, and sorts the imports.
func squeeze(code string) string {
	code = imports.ReplaceAllStringFunc(code, func(list string) string {
		lines := strings.Split(list, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	})
	return strings.Join(strings.Fields(code), " ")
}
