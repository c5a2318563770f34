package scaffold_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// TestEveryCombinationTypeChecks checks all services, with their tests and one more entity. What they import is compiled
// once, and read from its export data.
func TestEveryCombinationTypeChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything that a service can import")
	}
	all := combinations()
	c := newChecker(t, all)
	for _, w := range all {
		s, files := rendered(t, w)
		order, err := scaffold.NewEntity(s, "OrderItem", allFields)
		if err != nil {
			t.Fatal(err)
		}
		more, err := scaffold.RenderEntity(order)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(more, files)
		if err := c.check(more); err != nil {
			t.Errorf("%s: %v", name(w), err)
		}
	}
}

func TestEveryCombinationIsFormatted(t *testing.T) {
	for _, w := range combinations() {
		_, files := rendered(t, w)
		for _, file := range files.Paths() {
			text := files[file]
			if formatted, err := format.Source(text); path.Ext(file) == ".go" && (err != nil || !bytes.Equal(formatted, text)) {
				t.Errorf("%s: %s is not formatted: %v", name(w), file, err)
			}
			if bytes.Contains(text, []byte("[[")) || bytes.Contains(text, []byte("\n\n\n")) || bytes.Contains(text, []byte(" \n")) {
				t.Errorf("%s: %s has a leftover of its template:\n%s", name(w), file, text)
			}
		}
	}
}

// allFields has a field of each type.
var allFields = []string{
	"customer:string", "remark:text", "pieces:int", "total:int64", "weight:float64", "paid:bool", "paid_at:time", "userId:id",
}

// checker checks the types of services in memory.
type checker struct {
	set    *token.FileSet
	others types.Importer
	parsed map[string]*ast.File         // by path and text
	leaves map[*ast.File]*types.Package // packages that are the same in every service, by their first file
}

// newChecker compiles what the services import.
func newChecker(t *testing.T, all []scaffold.Wanted) *checker {
	t.Helper()
	c := &checker{set: token.NewFileSet(), parsed: map[string]*ast.File{}, leaves: map[*ast.File]*types.Package{}}
	wanted := map[string]bool{}
	for _, w := range all {
		_, files := rendered(t, w)
		for _, file := range files.Paths() {
			if path.Ext(file) != ".go" {
				continue
			}
			for _, spec := range c.parse(t, file, files[file]).Imports {
				if p, _ := strconv.Unquote(spec.Path.Value); !strings.HasPrefix(p, module+"/") {
					wanted[p] = true
				}
			}
		}
	}
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Keys(wanted))...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[p] = file
	}
	c.others = importer.ForCompiler(c.set, "gc", func(p string) (io.ReadCloser, error) {
		file, ok := exports[p]
		if !ok {
			return nil, fmt.Errorf("no package imports %s", p)
		}
		return os.Open(file)
	})
	return c
}

func (c *checker) parse(t *testing.T, file string, text []byte) *ast.File {
	t.Helper()
	key := file + "\x00" + string(text)
	if tree, ok := c.parsed[key]; ok {
		return tree
	}
	tree, err := parser.ParseFile(c.set, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	c.parsed[key] = tree
	return tree
}

// check checks the packages of one service.
func (c *checker) check(files scaffold.Files) error {
	s := &service{checker: c, folders: map[string][]*ast.File{}, done: map[string]*types.Package{}}
	for _, file := range files.Paths() {
		if path.Ext(file) != ".go" {
			continue
		}
		tree, ok := c.parsed[file+"\x00"+string(files[file])]
		if !ok {
			var err error
			if tree, err = parser.ParseFile(c.set, file, files[file], parser.SkipObjectResolution); err != nil {
				return err
			}
		}
		s.folders[path.Dir(file)] = append(s.folders[path.Dir(file)], tree)
	}
	for folder := range s.folders {
		if _, err := s.Import(path.Join(module, folder)); err != nil {
			return err
		}
	}
	return nil
}

// service imports the packages of one service, and those of others.
type service struct {
	*checker

	folders map[string][]*ast.File
	done    map[string]*types.Package
}

// Import implements types.Importer.
func (s *service) Import(p string) (*types.Package, error) {
	if p != module && !strings.HasPrefix(p, module+"/") {
		return s.others.Import(p)
	}
	if pkg, ok := s.done[p]; ok {
		return pkg, nil
	}
	folder := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
	if folder == "" {
		folder = "."
	}
	trees, ok := s.folders[folder]
	if !ok {
		return nil, fmt.Errorf("the service has no package %s", p)
	}
	generated := folder == "api/notev1" // the same in every service that has it
	if pkg, ok := s.leaves[trees[0]]; ok && generated {
		return pkg, nil
	}
	config := types.Config{Importer: s, GoVersion: "go1.25"}
	pkg, err := config.Check(p, s.set, trees, nil)
	s.done[p] = pkg
	if generated {
		s.leaves[trees[0]] = pkg
	}
	return pkg, err
}
