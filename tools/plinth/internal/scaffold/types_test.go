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

// TestRender_TypeChecks checks all services with their tests and another entity. Imported
// packages are compiled once and read from export data.
func TestRender_TypeChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything that a service can import")
	}
	all := combinations()
	c := newChecker(t, all)
	for _, spec := range all {
		s, files := rendered(t, spec)
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
			t.Errorf("%s: %v", name(spec), err)
		}
	}
}

func TestRender_Formatting(t *testing.T) {
	seen := map[string]bool{} // most services share files
	for _, spec := range combinations() {
		_, files := rendered(t, spec)
		for _, file := range files.Paths() {
			text := files[file]
			if seen[file+string(text)] {
				continue
			}
			seen[file+string(text)] = true
			if formatted, err := format.Source(text); path.Ext(file) == ".go" &&
				(err != nil || !bytes.Equal(formatted, text)) {
				t.Errorf("%s: %s is not formatted: %v", name(spec), file, err)
			}
			if bytes.Contains(text, []byte("[[")) || bytes.Contains(text, []byte("\n\n\n")) ||
				bytes.Contains(text, []byte(" \n")) {
				t.Errorf("%s: %s contains a remainder of its template:\n%s", name(spec), file, text)
			}
		}
	}
}

// allFields has a field of each type.
var allFields = []string{
	"customer:string", "remark:text", "pieces:int", "total:int64", "weight:float64", "paid:bool",
	"paid_at:time", "userId:id",
}

// checker type-checks services in memory.
type checker struct {
	set    *token.FileSet
	others types.Importer
	parsed map[string]*ast.File // by path and text
	// packages contains packages by identity, because most services share them.
	packages map[string]*types.Package
}

// newChecker compiles the imports of the services.
func newChecker(t *testing.T, all []scaffold.Spec) *checker {
	t.Helper()
	c := &checker{
		set: token.NewFileSet(), parsed: map[string]*ast.File{},
		packages: map[string]*types.Package{},
	}
	wanted := map[string]bool{}
	for _, spec := range all {
		_, files := rendered(t, spec)
		for _, file := range files.Paths() {
			if path.Ext(file) != ".go" {
				continue
			}
			tree, err := c.parse(file, files[file])
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range imported(tree) {
				if !isOwn(p) {
					wanted[p] = true
				}
			}
		}
	}
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"},
		slices.Sorted(maps.Keys(wanted))...)
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

func (c *checker) parse(file string, text []byte) (*ast.File, error) {
	key := file + "\x00" + string(text)
	if tree, ok := c.parsed[key]; ok {
		return tree, nil
	}
	tree, err := parser.ParseFile(c.set, file, text, parser.SkipObjectResolution)
	if err == nil {
		c.parsed[key] = tree
	}
	return tree, err
}

// imported returns the imports of a file.
func imported(tree *ast.File) []string {
	var all []string
	for _, spec := range tree.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		all = append(all, p)
	}
	return all
}

// isOwn reports whether a package belongs to the service.
func isOwn(p string) bool { return p == module || strings.HasPrefix(p, module+"/") }

// check type-checks the packages of a service.
func (c *checker) check(files scaffold.Files) error {
	s := &service{checker: c, folders: map[string][]*ast.File{}, done: map[string]*types.Package{}}
	for _, file := range files.Paths() {
		if path.Ext(file) != ".go" {
			continue
		}
		tree, err := c.parse(file, files[file])
		if err != nil {
			return err
		}
		folder := path.Join(module, path.Dir(file))
		s.folders[folder] = append(s.folders[folder], tree)
	}
	for folder := range s.folders {
		if _, err := s.Import(folder); err != nil {
			return err
		}
	}
	return nil
}

// service imports the packages of a service and of its dependencies.
type service struct {
	*checker

	folders map[string][]*ast.File // by import path
	done    map[string]*types.Package
}

// Import implements types.Importer.
func (s *service) Import(p string) (*types.Package, error) {
	if !isOwn(p) {
		return s.others.Import(p)
	}
	if pkg, ok := s.done[p]; ok {
		return pkg, nil
	}
	trees, ok := s.folders[p]
	if !ok {
		return nil, fmt.Errorf("the service has no package %s", p)
	}
	identity, err := s.identityOf(trees)
	if err != nil {
		return nil, err
	}
	pkg, ok := s.packages[identity]
	if !ok {
		config := types.Config{Importer: s, GoVersion: "go1.26"}
		if pkg, err = config.Check(p, s.set, trees, nil); err != nil {
			return nil, err
		}
		s.packages[identity] = pkg
	}
	s.done[p] = pkg
	return pkg, nil
}

// identityOf returns a key made of the files and the imported packages of the service.
// Both are unique pointers.
func (s *service) identityOf(trees []*ast.File) (string, error) {
	var identity strings.Builder
	for _, tree := range trees {
		fmt.Fprintf(&identity, "%p ", tree)
		for _, p := range imported(tree) {
			if !isOwn(p) {
				continue
			}
			pkg, err := s.Import(p)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&identity, "%p ", pkg)
		}
	}
	return identity.String(), nil
}
