package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCachePagesQuoteCompiledCode finds every piece of Go on the pages of the cache's views in the examples of the package,
// which are run. There a function stands for the cache that an application finds in its context.
func TestCachePagesQuoteCompiledCode(t *testing.T) {
	files, err := filepath.Glob("../core/major/xcache/example*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the examples of the cache are %v, %v", files, err)
	}
	var sources []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, squeeze(strings.ReplaceAll(string(text), "exampleManager()", "xCache.MustGetManager(ctx)")))
	}
	for _, page := range []string{"xcache", "xcache-key", "xcache-hash", "xcache-set", "xcache-list"} {
		text, err := os.ReadFile("../docs/content/base-go/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range blocks(string(text)) {
			if !quoted(squeeze(block), sources) {
				t.Errorf("%s.md: Go block %d is in no example of the package:\n%s", page, i+1, block)
			}
		}
	}
}
