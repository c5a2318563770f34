package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pages quote the examples, whole or in part.
var pages = []string{"../README.md", "../docs/content/guide/quick-start.md", "../docs/content/guide/project-layout.md"}

// TestPagesQuoteCompiledCode finds every function and every program of the pages in an example, so that what a reader
// copies compiles. Space does not count.
func TestPagesQuoteCompiledCode(t *testing.T) {
	var sources []string
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || path == "snippets_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		sources = append(sources, squeeze(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range blocks(string(text)) {
			if !strings.Contains(block, "func ") {
				continue // a line or two that stand for many
			}
			if !quoted(squeeze(block), sources) {
				t.Errorf("%s: Go block %d is in no example:\n%s", page, i+1, block)
			}
		}
	}
}

// TestPageWithOtherCodeIsNoticed keeps the check above from passing whatever it reads.
func TestPageWithOtherCodeIsNoticed(t *testing.T) {
	if quoted(squeeze("func main() { stop() }"), []string{squeeze("func main() {\n\tstart()\n}")}) {
		t.Error("other code was taken for a quote")
	}
	if got := blocks("a\n```go\nx\n```\nb\n```sh\ny\n```\n```go\nz\n```\n"); len(got) != 2 || got[0] != "x\n" || got[1] != "z\n" {
		t.Errorf("blocks = %q", got)
	}
}

// blocks returns the Go code of a page.
func blocks(page string) []string {
	var found []string
	for _, part := range strings.Split(page, "```go\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		found = append(found, code)
	}
	return found
}

func quoted(block string, sources []string) bool {
	for _, source := range sources {
		if strings.Contains(source, block) {
			return true
		}
	}
	return false
}

// squeeze makes every run of white space one blank.
func squeeze(code string) string { return strings.Join(strings.Fields(code), " ") }
