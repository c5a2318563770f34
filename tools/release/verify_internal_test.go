package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestRulesNameEveryBreach(t *testing.T) {
	const license = "Apache License"
	for _, tc := range []struct {
		name    string
		mod     string
		license string
		want    []string
	}{
		{name: "a good module", mod: "go 1.25.0\nrequire github.com/plinthgo/plinth/core v0.1.0", license: license},
		{name: "another language version", mod: "go 1.26.0", license: license, want: []string{"does not state go 1.25.0"}},
		{name: "a toolchain", mod: "go 1.25.0\ntoolchain go1.26.1", license: license, want: []string{"toolchain"}},
		{name: "a replace", mod: "go 1.25.0\nreplace a.com/b => ../b", license: license, want: []string{"replace"}},
		{name: "a sibling at another version", mod: "go 1.25.0\nrequire github.com/plinthgo/plinth/core v0.0.9", license: license, want: []string{"not v0.1.0"}},
		{name: "no licence", mod: "go 1.25.0", license: "", want: []string{"LICENSE"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(tc.license), 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := modfile.Parse("go.mod", []byte("module github.com/plinthgo/plinth/x\n"+tc.mod+"\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := rules(workspace.Module{Name: "x", Dir: dir, File: file}, []workspace.Module{core(t)})
			if (got != nil) != (len(tc.want) > 0) {
				t.Fatalf("rules = %v, want %q", got, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.Error(), want) {
					t.Errorf("rules = %v, want %q in it", got, want)
				}
			}
		})
	}
}

// core is a module that the tree answers for as v0.1.0.
func core(t *testing.T) workspace.Module {
	t.Helper()
	file, err := modfile.Parse("go.mod", []byte("module github.com/plinthgo/plinth/core\n\ngo 1.25.0\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return workspace.Module{Name: "core", Version: "v0.1.0", File: file}
}

func TestStrangersLeavesOutSiblings(t *testing.T) {
	const other = "golang.org/x/mod v0.38.0 h1:x=\n"
	if got := strangers("github.com/plinthgo/plinth/core v0.1.0 h1:y=\n" + other); got != other {
		t.Errorf("strangers = %q, want %q", got, other)
	}
}

func TestChooseRefusesAnUnknownModule(t *testing.T) {
	modules := []workspace.Module{{Name: "core"}, {Name: "tools"}}
	if got, err := workspace.Choose(modules, []string{"tools"}); err != nil || len(got) != 1 || got[0].Name != "tools" {
		t.Errorf("Choose = %v, %v; want tools", got, err)
	}
	if _, err := workspace.Choose(modules, []string{"nowhere"}); err == nil {
		t.Error("an unknown module was accepted")
	}
}
