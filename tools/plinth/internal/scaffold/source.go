package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// goFile is a Go file with its text and syntax tree.
type goFile struct {
	name string
	text []byte
	set  *token.FileSet
	tree *ast.File
}

func parseGo(name string, text []byte) (*goFile, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &goFile{name: name, text: text, set: set, tree: tree}, nil
}

func (f *goFile) offset(pos token.Pos) int { return f.set.Position(pos).Offset }

// insert inserts text at a position and formats the file. If the file was formatted, the
// rest is unchanged.
func (f *goFile) insert(at token.Pos, text string) (*goFile, error) {
	code, err := format.Source(slices.Insert(slices.Clone(f.text), f.offset(at), []byte(text)...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return parseGo(f.name, code)
}

// imported returns the local name of an imported path, or "".
func (f *goFile) imported(importedPath string) string {
	for _, spec := range f.tree.Imports {
		if importPath(spec) == importedPath {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(importedPath)
		}
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
	return path
}

// withImport adds an import if it is missing.
func (f *goFile) withImport(name, importedPath string) (*goFile, error) {
	if f.imported(importedPath) != "" {
		return f, nil
	}
	astutil.AddNamedImport(f.set, f.tree, name, importedPath)
	var code bytes.Buffer
	if err := format.Node(&code, f.set, f.tree); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return parseGo(f.name, code.Bytes())
}

// calls returns the method and package-function calls with one of the given names.
func (f *goFile) calls(names ...string) []*ast.CallExpr {
	var found []*ast.CallExpr
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
				found = append(found, call)
			}
		}
		return true
	})
	return found
}

// functions returns the functions of the file, without methods.
func (f *goFile) functions() []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			found = append(found, fn)
		}
	}
	return found
}

func (f *goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// goFiles reads the Go files of the service.
func (p *plan) goFiles() ([]*goFile, error) {
	var files []*goFile
	err := filepath.WalkDir(p.root, func(name string, d os.DirEntry, err error) error {
		if name != p.root && d.IsDir() && (err != nil || skipped(name, d.Name())) {
			return filepath.SkipDir // for example an unreadable database directory
		}
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		relative, err := filepath.Rel(p.root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		text, err := p.read(relative)
		if err != nil {
			return err
		}
		file, err := parseGo(relative, text)
		files = append(files, file)
		return err
	})
	return files, err
}

// skipped reports whether a directory contains no code of the service.
func skipped(dir, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		slices.Contains([]string{"vendor", "testdata", "node_modules"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
