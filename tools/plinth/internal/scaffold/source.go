package scaffold

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goFile is a file of Go code that is to be changed: its text, and the tree with the places in it.
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

// insert puts text at a place and formats the file. The rest of it stays as it is, where it was formatted.
func (f *goFile) insert(at int, text string) (*goFile, error) {
	code, err := format.Source(slices.Concat(f.text[:at], []byte(text), f.text[at:]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return parseGo(f.name, code)
}

// imported returns the name under which the file imports a path, or "".
func (f *goFile) imported(importedPath string) string {
	for _, spec := range f.tree.Imports {
		if importPath(spec) != importedPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importedPath)
	}
	return ""
}

// withImport adds an import, in the group of its like, where it is not there.
func (f *goFile) withImport(modulePath, name, importedPath string) (*goFile, error) {
	if f.imported(importedPath) != "" {
		return f, nil
	}
	line := fmt.Sprintf("%q", importedPath)
	if name != "" {
		line = name + " " + line
	}
	decl := f.imports()
	if decl == nil {
		return f.insert(f.offset(f.tree.Name.End()), "\n\nimport (\n\t"+line+"\n)\n")
	}
	if !decl.Lparen.IsValid() {
		return f.insert(f.offset(decl.End()), "\nimport "+line)
	}
	at, before := f.placeOf(decl, modulePath, importedPath)
	return f.insert(at, before+line+"\n")
}

func (f *goFile) imports() *ast.GenDecl {
	for _, d := range f.tree.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			return gen
		}
	}
	return nil
}

// placeOf returns where in a block of imports a new line belongs: behind the last one of its group, else at the end, behind
// an empty line.
func (f *goFile) placeOf(decl *ast.GenDecl, modulePath, importedPath string) (at int, before string) {
	at, before = f.offset(decl.Rparen), "\n"
	for _, s := range decl.Specs {
		spec, ok := s.(*ast.ImportSpec)
		if ok && groupOf(modulePath, importPath(spec)) == groupOf(modulePath, importedPath) {
			end := spec.End()
			if spec.Comment != nil {
				end = spec.Comment.End()
			}
			at, before = f.offset(end), "\n\t"
		}
	}
	return at, before
}

// calls returns the calls of functions with one of these names, whatever they belong to.
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

// function returns a function of the file, or nil.
func (f *goFile) function(name string) *ast.FuncDecl {
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
			return fn
		}
	}
	return nil
}

// Which files goFiles reads.
func anyFile(string) bool          { return true }
func exceptTests(name string) bool { return !isTest(name) }

// goFiles reads the Go files below a folder of the service whose names are wanted.
func (p *plan) goFiles(below string, wanted func(name string) bool) ([]*goFile, error) {
	var files []*goFile
	err := filepath.WalkDir(filepath.Join(p.root, filepath.FromSlash(below)), func(name string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return p.enter(name, d, err)
		}
		if err != nil {
			return err
		}
		if !strings.HasSuffix(name, ".go") || !wanted(name) {
			return nil
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
		if err == nil {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// enter passes by a folder that is none of the service's code, or that cannot be read, as that of a database.
func (p *plan) enter(name string, d os.DirEntry, err error) error {
	switch {
	case name == p.root:
		return err
	case err != nil || skipped(name, d.Name()):
		return filepath.SkipDir
	}
	return nil
}

// skipped reports whether a folder is none of the service's code.
func skipped(dir, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "vendor" || name == "testdata" || name == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
