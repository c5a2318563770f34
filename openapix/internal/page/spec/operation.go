package spec

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// Operation is an operation of a path.
type Operation struct {
	Method, Path string
	// ID is the operation ID. It may be empty.
	ID                   string
	Summary, Description string
	Tags                 []string
	Deprecated           bool
	// Security are the alternatives of schemes that a client must satisfy. An empty
	// alternative allows anonymous requests.
	Security [][]Requirement

	doc  *Document
	node *jsontree.Value
	item *jsontree.Value // the path
}

// Requirement is a security scheme with its scopes.
type Requirement struct {
	Scheme string
	Scopes []string
}

// Operations returns the operations in the order of the document.
func (d *Document) Operations() []*Operation {
	var list []*Operation
	for _, path := range d.Get("paths").Members() {
		item := d.Resolve(path.Value)
		for _, method := range item.Members() {
			if !isMethod(method.Name) || method.Value.Kind() != jsontree.Object {
				continue
			}
			list = append(list, d.operation(path.Name, method.Name, item, method.Value))
		}
	}
	return list
}

func isMethod(name string) bool {
	switch name {
	case "get", "put", "post", "delete", "options", "head", "patch", "trace":
		return true
	default:
		return false
	}
}

func (d *Document) operation(path, method string, item, node *jsontree.Value) *Operation {
	security := node.Get("security")
	if security == nil {
		security = d.Get("security")
	}
	return &Operation{
		Method: strings.ToUpper(method), Path: path, ID: node.Get("operationId").Str(),
		Summary: node.Get("summary").Str(), Description: node.Get("description").Str(),
		Tags:       Strings(node.Get("tags")),
		Deprecated: node.Get("deprecated").True(),
		Security:   requirements(security),
		doc:        d, node: node, item: item,
	}
}

func requirements(list *jsontree.Value) [][]Requirement {
	var all [][]Requirement
	for _, alternative := range list.Items() {
		schemes := []Requirement{}
		for _, member := range alternative.Members() {
			schemes = append(schemes, Requirement{member.Name, Strings(member.Value)})
		}
		all = append(all, schemes)
	}
	return all
}

// Parameter is a parameter of an operation.
type Parameter struct {
	In, Name             string
	Required, Deprecated bool
	Shape                Shape
	// Example is the value for a form, or "".
	Example string
	// Joined reports that an array is one value with commas.
	Joined bool
}

// Parameters returns the parameters of the operation and its path, in the order path,
// query, header, cookie.
func (o *Operation) Parameters() []Parameter {
	type key struct{ in, name string }
	var list []Parameter
	at := map[key]int{}
	nodes := append(slices.Clone(o.item.Get("parameters").Items()),
		o.node.Get("parameters").Items()...)
	for _, node := range nodes {
		p := o.doc.parameter(o.doc.Resolve(node))
		if i, ok := at[key{p.In, p.Name}]; ok {
			list[i] = p
		} else if p.Name != "" && slices.Contains(places, p.In) {
			at[key{p.In, p.Name}] = len(list)
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Parameter) int {
		return slices.Index(places, a.In) - slices.Index(places, b.In)
	})
	return list
}

var places = []string{"path", "query", "header", "cookie"}

func (d *Document) parameter(node *jsontree.Value) Parameter {
	holder := node
	if content := node.Get("content").Members(); len(content) > 0 {
		holder = content[0].Value
	}
	p := Parameter{
		In: node.Get("in").Str(), Name: node.Get("name").Str(),
		Required: node.Get("required").True(), Deprecated: node.Get("deprecated").True(),
		Shape: d.Shape(holder.Get("schema")),
	}
	if text := node.Get("description").Str(); text != "" {
		p.Shape.Description = text
	}
	if v := d.given(node); v != nil {
		p.Shape.Example = plain(v)
	}
	p.Example = p.Shape.Example
	if p.Required && p.Example == "" {
		p.Example = p.Shape.Default
	}
	explode := node.Get("explode")
	p.Joined = p.In != "query" || (explode != nil && !explode.True())
	return p
}

// Content is a body of a media type.
type Content struct {
	Type  string
	Shape Shape
	// Example is the body as text, or "".
	Example string
	// Schema is the schema, or nil.
	Schema *jsontree.Value
}

// Body returns the request bodies by media type, and their description.
func (o *Operation) Body() (list []Content, description string, required bool) {
	body := o.doc.Resolve(o.node.Get("requestBody"))
	return o.doc.contents(body, true), body.Get("description").Str(),
		body.Get("required").True()
}

func (d *Document) contents(holder *jsontree.Value, request bool) []Content {
	var list []Content
	for _, member := range holder.Get("content").Members() {
		media := d.Resolve(member.Value)
		c := Content{
			Type: member.Name, Shape: d.Shape(media.Get("schema")), Schema: media.Get("schema"),
			Example: d.exampleText(member.Name, media, request),
		}
		list = append(list, c)
	}
	return list
}

// IsJSON reports whether a media type is a JSON document.
func IsJSON(media string) bool {
	media, _, _ = strings.Cut(media, ";")
	media = strings.TrimSpace(media)
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

func (d *Document) exampleText(media string, holder *jsontree.Value, request bool) string {
	if IsJSON(media) {
		if holder.Get("schema") == nil && d.given(holder) == nil {
			return ""
		}
		return d.Example(holder, request).Indented()
	}
	if v := d.given(holder); v != nil {
		return plain(v)
	}
	if !request && strings.Contains(media, "json") { // a stream of JSON
		return d.Example(holder, request).JSON()
	}
	return ""
}
