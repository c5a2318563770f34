package scaffold

import (
	"cmp"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// formatCode formats Go code, and orders its imports in groups: the standard library, others, Plinth, the service's own.
func formatCode(modulePath string, code []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", code, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if len(file.Decls) > 0 {
		decl := file.Decls[0]
		from, to := set.Position(decl.Pos()).Offset, set.Position(decl.End()).Offset
		code = slices.Concat(code[:from], []byte(importBlock(modulePath, file.Imports)), code[to:])
	}
	return format.Source(code)
}

// importBlock writes the imports of a file anew.
func importBlock(modulePath string, imports []*ast.ImportSpec) string {
	groups := make([][]*ast.ImportSpec, 4)
	for _, spec := range imports {
		i := groupOf(modulePath, importPath(spec))
		groups[i] = append(groups[i], spec)
	}
	groups = slices.DeleteFunc(groups, func(group []*ast.ImportSpec) bool { return len(group) == 0 })
	if len(imports) == 1 && (imports[0].Name == nil || imports[0].Name.Name != "_") {
		return "import " + importLine(imports[0])
	}
	blocks := make([]string, len(groups))
	for i, group := range groups {
		slices.SortFunc(group, func(a, b *ast.ImportSpec) int { return cmp.Compare(importPath(a), importPath(b)) })
		for _, spec := range group {
			blocks[i] += "\t" + importLine(spec) + "\n"
		}
	}
	return "import (\n" + strings.Join(blocks, "\n") + ")"
}

func importLine(spec *ast.ImportSpec) string {
	line := spec.Path.Value
	if spec.Name != nil {
		line = spec.Name.Name + " " + line
	}
	return line
}

// groupOf returns the number of the group that an import belongs to.
func groupOf(modulePath, path string) int {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case within(modulePath, path):
		return 3
	case within(catalog.Project, path):
		return 2
	case strings.Contains(first, "."):
		return 1
	default:
		return 0
	}
}

func within(prefix, path string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return path
}
