package xutil_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Statistics of a few thousand keys cannot detect a predictable source, so the test
// checks the imports.
func TestKeys_RandomSource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("files = %q, %v", files, err)
	}
	secure := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			switch spec.Path.Value {
			case `"crypto/rand"`:
				secure++
			case `"math/rand"`, `"math/rand/v2"`:
				t.Errorf("%s imports %s", name, spec.Path.Value)
			}
		}
	}
	if secure == 0 {
		t.Error("no file imports crypto/rand")
	}
}
