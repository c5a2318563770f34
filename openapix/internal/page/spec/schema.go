package spec

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// schema is a schema merged with its references, the schemas of allOf, and the variant of
// anyOf or oneOf that is not null.
type schema struct {
	doc   *Document
	name  string            // of the first reference
	parts []*jsontree.Value // the first one with a keyword is in force
	null  bool              // null is also accepted
}

// schema merges schemas. An earlier schema is more specific than a later one.
func (d *Document) schema(nodes ...*jsontree.Value) *schema {
	s := &schema{doc: d}
	for _, node := range nodes {
		s.add(node)
	}
	return s
}

func (s *schema) add(node *jsontree.Value) {
	if node.Kind() != jsontree.Object || slices.Contains(s.parts, node) {
		return
	}
	s.parts = append(s.parts, node)
	if reference := node.Get("$ref").Str(); reference != "" {
		if s.name == "" {
			s.name = referenceName(reference)
		}
		s.add(s.doc.target(reference))
	}
	for _, item := range node.Get("allOf").Items() {
		s.add(item)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if variants, null := withoutNull(node.Get(keyword)); null && len(variants) == 1 {
			s.null = true
			s.add(variants[0])
		}
	}
}

// withoutNull returns the variants of anyOf or oneOf other than null.
func withoutNull(list *jsontree.Value) (variants []*jsontree.Value, null bool) {
	for _, variant := range list.Items() {
		if variant.Get("type").Str() == "null" {
			null = true
		} else {
			variants = append(variants, variant)
		}
	}
	return variants, null
}

// get returns the value of a keyword.
func (s *schema) get(keyword string) *jsontree.Value {
	for _, part := range s.parts {
		if v := part.Get(keyword); v != nil {
			return v
		}
	}
	return nil
}

// variants returns the alternatives of the schema, with the name of their keyword.
func (s *schema) variants() (keyword string, list []*jsontree.Value) {
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, part := range s.parts {
			if list, _ := withoutNull(part.Get(keyword)); len(list) > 1 {
				return keyword, list
			}
		}
	}
	return "", nil
}

// property is a member of an object. Its nodes are the schemas of all parts.
type property struct {
	name     string
	nodes    []*jsontree.Value
	required bool
}

// properties returns the members of an object, those of references and allOf first.
func (s *schema) properties() []*property {
	var list []*property
	byName := map[string]*property{}
	required := s.required()
	for _, part := range s.inOrder() {
		for _, member := range part.Get("properties").Members() {
			p := byName[member.Name]
			if p == nil {
				p = &property{name: member.Name, required: required[member.Name]}
				byName[member.Name] = p
				list = append(list, p)
			}
			p.nodes = append([]*jsontree.Value{member.Value}, p.nodes...)
		}
	}
	return list
}

// inOrder returns the parts with the base types before their extensions.
func (s *schema) inOrder() []*jsontree.Value {
	if len(s.parts) == 0 {
		return nil
	}
	return append(slices.Clone(s.parts[1:]), s.parts[0])
}

func (s *schema) required() map[string]bool {
	names := map[string]bool{}
	for _, part := range s.parts {
		for _, name := range part.Get("required").Items() {
			names[name.Str()] = true
		}
	}
	return names
}

// types returns the JSON types without null.
func (s *schema) types() []string {
	t := s.get("type")
	var list []string
	switch {
	case t.Kind() == jsontree.String:
		list = []string{t.Str()}
	case t.Kind() == jsontree.Array:
		for _, item := range t.Items() {
			list = append(list, item.Str())
		}
	case s.get("properties") != nil || s.get("additionalProperties") != nil:
		return []string{object}
	case s.get("items") != nil || s.get("prefixItems") != nil:
		return []string{array}
	default:
		return s.typesOfValues()
	}
	return slices.DeleteFunc(list, func(t string) bool { return t == null })
}

// JSON types.
const (
	object = "object"
	array  = "array"
	null   = "null"
)

// typesOfValues returns the type of const or enum.
func (s *schema) typesOfValues() []string {
	v := s.get("const")
	if items := s.get("enum").Items(); v == nil && len(items) > 0 {
		v = items[0]
	}
	if v == nil {
		return nil
	}
	name := map[jsontree.Kind]string{
		jsontree.Bool: "boolean", jsontree.Number: "number", jsontree.String: "string",
		jsontree.Array: array, jsontree.Object: object,
	}[v.Kind()]
	if name == "" {
		return nil
	}
	return []string{name}
}

func (s *schema) nullable() bool {
	t := s.get("type")
	return s.null || slices.ContainsFunc(t.Items(),
		func(item *jsontree.Value) bool { return item.Str() == null })
}

// maxType limits the depth of nested arrays in the name of a type.
const maxType = 4

// typeName returns the type in words, such as "array of User" or "string (date) or null".
func (s *schema) typeName(depth int) string {
	var names []string
	for _, t := range s.types() {
		names = append(names, s.nameOf(t, depth))
	}
	name := strings.Join(names, " or ")
	if keyword, list := s.variants(); name == "" && list != nil {
		name = map[string]string{"oneOf": "one of", "anyOf": "any of"}[keyword]
		if s.name != "" {
			name = s.name + ", " + name
		}
	}
	if name == "" {
		name = "any"
	}
	if s.nullable() {
		name += " or null"
	}
	return name
}

func (s *schema) nameOf(t string, depth int) string {
	switch t {
	case object:
		return s.objectName(depth)
	case array:
		if s.hasSchema("items") && depth < maxType {
			return "array of " + s.doc.schema(s.get("items")).typeName(depth+1)
		}
	default:
		if format := s.get("format").Str(); format != "" {
			return t + " (" + format + ")"
		}
	}
	return t
}

func (s *schema) objectName(depth int) string {
	switch {
	case s.name != "":
		return s.name
	case s.isMap() && depth < maxType:
		return "map of " + s.doc.schema(s.get("additionalProperties")).typeName(depth+1)
	default:
		return object
	}
}

// isMap reports whether the names of the members are not declared.
func (s *schema) isMap() bool {
	return s.get("properties") == nil && s.hasSchema("additionalProperties")
}

// hasSchema reports whether the value of a keyword is a schema with keywords.
func (s *schema) hasSchema(keyword string) bool {
	return s.get(keyword).Kind() == jsontree.Object
}

// isFile reports whether the schema is the content of a file in a form.
func (s *schema) isFile() bool {
	if s.get("format").Str() == "binary" {
		return true
	}
	media := s.get("contentMediaType").Str()
	return media != "" && media != "application/json" && s.get("contentEncoding") == nil
}
