package openapix

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// generator builds one document.
type generator struct {
	config  *config
	schemas *schema.Builder
	errs    []error

	envelopes map[bool]*envelopes // by whether the format is that of the Java library
	problem   *schema.Schema

	tags      map[string]bool
	codes     map[*xerror.ErrorCode]bool
	responses map[string]*tree.Object // of errors, by name
	examples  map[string]*tree.Object // of errors, by name
}

func (c *config) document(engine *gin.Engine) ([]byte, error) {
	operations, err := xapi.Operations(engine)
	operations = slices.DeleteFunc(operations, func(op *xapi.Operation) bool {
		return op == nil || op.Hidden
	})
	g := &generator{
		config: c, tags: map[string]bool{}, codes: map[*xerror.ErrorCode]bool{},
		responses: map[string]*tree.Object{}, examples: map[string]*tree.Object{},
		envelopes: map[bool]*envelopes{},
	}
	g.schemas = schema.New(func(name string) schema.Doc { return docOf(c.comments[name]) })
	if err = errors.Join(c.err, err); err != nil {
		return nil, err
	}
	g.problem = g.schemas.Type(problemType, schema.Response)
	root := g.root(operations)
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	const perOperation = 4 << 10 // bytes of a typical operation and its schemas
	text, err := tree.Append(make([]byte, 0, len(operations)*perOperation), root)
	if err != nil {
		return nil, fmt.Errorf("openapix: %w", err)
	}
	return append(text, '\n'), nil
}

func (g *generator) fail(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf("openapix: "+format, args...))
}

// root returns the document. The components are complete after the paths.
func (g *generator) root(operations []*xapi.Operation) *tree.Object {
	c := g.config
	paths := g.paths(operations)
	components := g.components()
	info := tree.New().Set("title", orDefault(c.title, xenv.ApplicationName)).
		Set("version", orDefault(c.version, c.applicationVersion)).
		Add("description", c.description)
	return tree.New().Set("openapi", "3.1.1").Set("info", info).Set("servers", g.servers()).
		Set("security", []any{}).Add("tags", g.tagList()).Set("paths", paths).
		Set("components", components).Set("x-error-catalogue", g.catalogue())
}

func orDefault(text string, fallback func() string) string {
	if text == "" {
		return fallback()
	}
	return text
}

func (g *generator) servers() []any {
	servers := g.config.servers
	if servers == nil {
		servers = []string{"/"}
	}
	list := make([]any, len(servers))
	for i, url := range servers {
		list[i] = tree.New().Set("url", url)
	}
	return list
}

// tagList returns the tags of the operations.
func (g *generator) tagList() []any {
	var list []any
	for _, t := range g.config.tags {
		if g.tags[t.name] {
			list = append(list, tree.New().Set("name", t.name).Add("description", t.description))
			delete(g.tags, t.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.tags)) {
		list = append(list, tree.New().Set("name", name))
	}
	return list
}

// paths returns the path items, in the order of the paths.
func (g *generator) paths(operations []*xapi.Operation) *tree.Object {
	g.checkIDs(operations)
	g.checkPaths(operations)
	slices.SortStableFunc(operations, func(a, b *xapi.Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(rank(a.Method), rank(b.Method)))
	})
	paths := tree.New()
	var item *tree.Object
	for i, op := range operations {
		if i == 0 || op.Path != operations[i-1].Path {
			item = tree.New()
			paths.Set(templateOf(op.Path), item)
		}
		if key := methodKey(op.Method); key != "" {
			item.Set(key, g.operation(op))
		} else {
			g.fail("%s %s (%s): OpenAPI has no operation for the method: "+
				"add the option xapi.Hidden", op.Method, op.Path, op.Position)
		}
	}
	return paths
}

func (g *generator) checkIDs(operations []*xapi.Operation) {
	first := map[string]*xapi.Operation{}
	for _, op := range operations {
		other := first[op.ID]
		if other == nil {
			first[op.ID] = op
			continue
		}
		g.fail("%s %s (%s) has the operation ID %s of %s %s: add the option xapi.ID to one of them",
			op.Method, op.Path, op.Position, op.ID, other.Method, other.Path)
	}
}

// checkPaths reports paths that gin distinguishes and OpenAPI does not: those that differ
// only in the names of parameters.
func (g *generator) checkPaths(operations []*xapi.Operation) {
	first := map[string]string{}
	for _, op := range operations {
		shape := shapeOf(op.Path)
		if other, ok := first[shape]; ok && other != op.Path {
			g.fail("%s %s (%s): the path differs from %s only in the names of parameters: "+
				"use the same names", op.Method, op.Path, op.Position, other)
			continue
		}
		first[shape] = op.Path
	}
}

// components returns all components. It reports the errors of the types.
func (g *generator) components() *tree.Object {
	list, errs := g.schemas.Finish()
	for _, err := range errs {
		g.fail("%w", err)
	}
	schemas := tree.New()
	for _, component := range list {
		g.config.docs.completeSchema(component)
		schemas.Set(component.Name, component.Schema.Tree())
	}
	schemes, err := g.config.securitySchemes()
	if err != nil {
		g.errs = append(g.errs, err)
	}
	return tree.New().Add("schemas", schemas).Add("responses", sorted(g.responses)).
		Add("examples", sorted(g.examples)).Set("headers", headers()).Add("securitySchemes", schemes)
}

// sorted returns an object with sorted members.
func sorted(members map[string]*tree.Object) *tree.Object {
	o := tree.New()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o.Set(name, members[name])
	}
	return o
}
