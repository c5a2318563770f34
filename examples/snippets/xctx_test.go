package snippets_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestContextKey_Page(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/content/base-go/xctx.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := contextKeys(t)
	if len(keys) < 10 {
		t.Fatalf("got only the keys %q", keys)
	}
	_, reserved, _ := strings.Cut(string(page), "`IsReserved` reports")
	reserved, _, _ = strings.Cut(reserved, "\n\n")
	for name, key := range keys {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not contain %s", name)
		}
		if got := !strings.Contains(reserved, "`"+name+"`"); got != key.IsReserved() {
			t.Errorf("%s: reserved on the page = %t, want %t", name, got, key.IsReserved())
		}
	}
}

// contextKeys returns the exported keys of package xctx by name.
func contextKeys(t *testing.T) map[string]xctx.ContextKey {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../core/defined/xctx/xctx.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]xctx.ContextKey{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "ContextKey" &&
			spec.Names[0].IsExported() {
			literal, _ := spec.Values[0].(*ast.BasicLit)
			keys[spec.Names[0].Name] = xctx.ContextKey(strings.Trim(literal.Value, `"`))
		}
		return true
	})
	return keys
}
