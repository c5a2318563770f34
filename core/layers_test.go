package core

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	repository = "github.com/plinthgo/plinth/"
	module     = repository + "core/"
	outside    = "." // in deny: all packages outside the standard library
)

// layer is a directory of this module with its rank and the import prefixes that it must
// not import.
type layer struct {
	dir  string
	rank int
	deny []string
}

// layers are the directories of this module, lowest first. defined and internal have the
// same rank and may import each other.
var layers = []layer{
	{dir: "defined", rank: 0, deny: []string{outside}},
	{dir: "internal", rank: 0, deny: []string{"github.com/gin-gonic", "gorm.io"}},
	{
		dir: "common", rank: 1,
		deny: []string{"github.com/gin-gonic", "gorm.io", "google.golang.org/grpc"},
	},
	{
		dir: "major", rank: 2,
		deny: []string{
			"gorm.io/driver", "github.com/glebarez", "github.com/sijms", "github.com/redis",
			"google.golang.org/grpc",
		},
	},
}

// TestLayers checks every import of the module's code. Tests may import more.
func TestLayers(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" ||
			strings.HasSuffix(file, "_test.go") {
			return err
		}
		dir, _, nested := strings.Cut(filepath.ToSlash(file), "/")
		if !nested {
			return nil // package core itself
		}
		from := slices.IndexFunc(layers, func(l layer) bool { return l.dir == dir })
		if from < 0 {
			t.Errorf("%s: dir %q has no layer; add it to layers", file, dir)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if problem := layers[from].deniedBy(path); problem != "" {
				t.Errorf("%s imports %s: %s", file, path, problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deniedBy returns the reason why the layer must not import path, or "".
func (l layer) deniedBy(path string) string {
	if rest, ours := strings.CutPrefix(path, module); ours {
		dir, _, _ := strings.Cut(rest, "/")
		to := slices.IndexFunc(layers, func(l layer) bool { return l.dir == dir })
		if to < 0 || layers[to].rank > l.rank {
			return "a layer may import only itself and lower layers"
		}
		return ""
	}
	if strings.HasPrefix(path, repository) {
		return "core may not import another module of this repository"
	}
	for _, prefix := range l.deny {
		host, _, _ := strings.Cut(path, "/")
		if prefix == outside && strings.Contains(host, ".") || strings.HasPrefix(path, prefix) {
			return "denied to " + l.dir
		}
	}
	return ""
}

// TestLayers_Denied verifies the check itself.
func TestLayers_Denied(t *testing.T) {
	for _, tc := range []struct {
		name string
		from string
		path string
		want bool
	}{
		{name: "names import the standard library", from: "defined", path: "net/http", want: false},
		{name: "names import a library", from: "defined", path: "golang.org/x/text", want: true},
		{name: "names import common", from: "defined", path: module + "common/xlog", want: true},
		{
			name: "common imports the web engine", from: "common", path: "github.com/gin-gonic/gin",
			want: true,
		},
		{name: "common imports the ORM", from: "common", path: "gorm.io/gorm", want: true},
		{
			name: "common imports gRPC", from: "common", path: "google.golang.org/grpc/status",
			want: true,
		},
		{name: "common imports major", from: "common", path: module + "major/xreg", want: true},
		{name: "major imports common", from: "major", path: module + "common/xlog", want: false},
		{name: "major imports the ORM", from: "major", path: "gorm.io/gorm", want: false},
		{
			name: "major imports a driver", from: "major", path: "gorm.io/driver/postgres",
			want: true,
		},
		{
			name: "major imports a plugin", from: "major", path: repository + "dbplugins/sqlite",
			want: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from := layers[slices.IndexFunc(layers,
				func(l layer) bool { return l.dir == tc.from })]
			if got := from.deniedBy(tc.path) != ""; got != tc.want {
				t.Errorf("%s importing %s denied = %t, want %t", tc.from, tc.path, got, tc.want)
			}
		})
	}
}
