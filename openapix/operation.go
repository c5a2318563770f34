package openapix

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// methods are the methods of a path item, in the order of the document.
var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodHead, http.MethodOptions, http.MethodTrace,
}

func rank(method string) int { return slices.Index(methods, method) }

// methodKey returns the key of a method in a path item, or "".
func methodKey(method string) string {
	if rank(method) < 0 {
		return ""
	}
	return strings.ToLower(method)
}

// templateOf converts a path of gin: /users/{id} for /users/:id.
func templateOf(path string) string {
	return mapParams(path, func(name string) string { return "{" + name + "}" })
}

// shapeOf returns a path without the names of its parameters.
func shapeOf(path string) string { return mapParams(path, func(string) string { return "{}" }) }

func mapParams(path string, convert func(name string) string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if at := strings.IndexAny(segment, ":*"); at >= 0 {
			segments[i] = segment[:at] + convert(segment[at+1:])
		}
	}
	return strings.Join(segments, "/")
}

func (g *generator) operation(op *xapi.Operation) *tree.Object {
	t := g.operationDoc(op)
	for _, tag := range op.Tags {
		g.tags[tag] = true
	}
	o := tree.New().Add("tags", tree.Strings(op.Tags)).Set("operationId", op.ID).
		Add("summary", t.Summary).Add("description", t.Description).
		Add("deprecated", op.Deprecated || t.Deprecated).
		Add("parameters", g.parameters(op))
	if body := g.requestBody(op); body != nil {
		o.Set("requestBody", body)
	}
	return o.Set("responses", g.operationResponses(op)).Add("security", g.security(op))
}

func (g *generator) security(op *xapi.Operation) []any {
	var list []any
	for _, name := range op.Security {
		if _, ok := g.config.schemes[name]; !ok {
			g.fail("%s %s (%s): the security scheme %q is not defined: "+
				"add the option WithSecurityScheme", op.Method, op.Path, op.Position, name)
		}
		list = append(list, tree.New().Set(name, []any{}))
	}
	return list
}

var sources = map[xvalid.Source]string{
	xvalid.Path: "path", xvalid.Query: "query", xvalid.Header: "header",
}

// parameters returns the parameters of the input, and the parameters of the path that the
// input does not have.
func (g *generator) parameters(op *xapi.Operation) []any {
	var list []any
	for _, name := range xapi.PathParams(op.Path) {
		isField := slices.ContainsFunc(op.Layout.Params, func(p xbind.Param) bool {
			return p.From == xvalid.Path && p.Name == name
		})
		if !isField {
			list = append(list, tree.New().Set("name", name).Set("in", "path").
				Set("required", true).Set("schema", schema.Of("string").Tree()))
		}
	}
	for i := range op.Layout.Params {
		list = append(list, g.parameter(op, &op.Layout.Params[i]))
	}
	return list
}

func (g *generator) parameter(op *xapi.Operation, p *xbind.Param) *tree.Object {
	s, required := g.schemas.Param(op.In, p)
	in := sources[p.From]
	g.config.docs.completeParam(op.ID, in, p.Name, s)
	o := tree.New().Set("name", p.Name).Set("in", in).Add("description", s.Description).
		Add("required", required || p.From == xvalid.Path).Add("deprecated", s.Deprecated)
	s.Description, s.Deprecated = "", false // they belong to the parameter
	if style := listStyle(p); style != "" {
		o.Set("style", style).Set("explode", false)
	}
	return o.Set("schema", s.Tree())
}

// listStyle returns the style of a list in the query whose elements are joined.
func listStyle(p *xbind.Param) string {
	if !p.Many || p.From != xvalid.Query {
		return ""
	}
	return map[string]string{"csv": "form", "ssv": "spaceDelimited", "pipes": "pipeDelimited"}[p.Field.
		Tag.Get("collection_format")]
}

const (
	mimeJSON      = "application/json"
	mimeForm      = "application/x-www-form-urlencoded"
	mimeMultipart = "multipart/form-data"
	mimeBinary    = "application/octet-stream"
)

// requestBody returns the body of a request, or nil.
func (g *generator) requestBody(op *xapi.Operation) *tree.Object {
	content := tree.New()
	switch op.Layout.Body {
	case xbind.BodyJSON:
		content.Set(mimeJSON, media(g.schemas.Body(op.In, op.Layout)))
	case xbind.BodyForm:
		form := media(g.schemas.Form(op.In, op.Layout))
		content.Set(mimeForm, form).Set(mimeMultipart, form)
	case xbind.BodyFiles:
		content.Set(mimeMultipart, media(g.schemas.Form(op.In, op.Layout)))
	case xbind.BodyUpload:
		content.Set(mimeMultipart, media(schema.Of("object")))
	case xbind.BodyRaw:
		content.Set("*/*", media(binary()))
	default:
		return nil
	}
	return tree.New().Set("required", true).Set("content", content)
}

// binary returns the schema of a file. The format is not part of JSON Schema, but
// generators of clients use it.
func binary() *schema.Schema {
	return &schema.Schema{Types: []string{"string"}, Format: "binary"}
}

// media returns a media type whose schema may refer to a component. The reference gets
// its name when the document is complete.
func media(s *schema.Schema) *tree.Object { return tree.New().Set("schema", lazy{s}) }

// lazy is a schema that is converted when the document is written.
type lazy struct{ schema *schema.Schema }

// Tree implements tree.Node.
func (l lazy) Tree() *tree.Object { return l.schema.Tree() }

var (
	failureType = reflect.TypeFor[xvalid.FieldError]()
	problemType = reflect.TypeFor[xerror.Problem]()
)
