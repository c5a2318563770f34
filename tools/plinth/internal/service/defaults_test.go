package service_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// defaultsOf returns those of a service with this code.
func defaultsOf(t *testing.T, code string) map[xEnv.EnvKey]string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/shop\n", "main.go": "package main\n\n" + code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := service.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDefaultsOfTheCodeAreFound(t *testing.T) {
	got := defaultsOf(t, `var o = xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
	xEnv.DatabaseDriver: "sqlite", xEnv.Port: "80", "NOSQL_DRIVER": "memory", xEnv.DatabasePath: file(), xEnv.Nothing: "x",
})

var p = Other(map[xEnv.EnvKey]string{xEnv.AppName: "shop"})
`)
	want := map[xEnv.EnvKey]string{xEnv.DatabaseDriver: "sqlite", xEnv.Port: "80", xEnv.NoSqlDriver: "memory"}
	if !maps.Equal(got, want) {
		t.Errorf("Defaults = %v, want %v", got, want)
	}
}

// TestEveryConstantLeadsToItsVariable reads the constants where they are declared.
func TestEveryConstantLeadsToItsVariable(t *testing.T) {
	root, err := workspace.Find()
	if err != nil {
		t.Skip(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "core", "defined", "xenv", "keys.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		n++
		want, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		got := defaultsOf(t, "var o = xOption.WithEnvDefaults(map[xEnv.EnvKey]string{xEnv."+spec.Names[0].Name+": \"x\"})\n")
		if got[xEnv.EnvKey(want)] != "x" || len(got) != 1 {
			t.Errorf("%s leads to %v, want %s", spec.Names[0].Name, got, want)
		}
		return true
	})
	if n < 50 || strings.Contains(root, "@") {
		t.Errorf("only %d constants", n)
	}
}
