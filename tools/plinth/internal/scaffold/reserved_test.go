package scaffold_test

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// TestCheckEntity_Identifiers generates an entity with the name of each identifier of a
// service. CheckEntity must reject the names that the service cannot have.
func TestCheckEntity_Identifiers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything that a service can import")
	}
	for _, spec := range []scaffold.Spec{
		{Module: module, Database: "sqlite", Cache: "memory"},
		{Module: module, Database: "none", Cache: "none"},
	} {
		c := newChecker(t, []scaffold.Spec{spec})
		s, files := rendered(t, spec)
		for _, entity := range identifiers(t, c, files) {
			e, err := scaffold.NewEntity(s, entity, allFields)
			if err != nil {
				continue // reserved
			}
			all, err := scaffold.RenderEntity(e)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(all, files)
			if err := c.check(all); err != nil {
				t.Errorf("%s: entity %s: %v", name(spec), entity, err)
			}
		}
	}
}

// identifiers returns the identifiers in the Go files as names of entities. Note is the
// entity of the service.
func identifiers(t *testing.T, c *checker, files scaffold.Files) []string {
	t.Helper()
	found := map[string]bool{}
	for _, file := range files.Paths() {
		if path.Ext(file) != ".go" {
			continue
		}
		tree, err := c.parse(file, files[file])
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				found[strings.ToUpper(id.Name[:1])+id.Name[1:]] = true
			}
			return true
		})
	}
	delete(found, "Note")
	return slices.Sorted(maps.Keys(found))
}
