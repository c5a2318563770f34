package spec

import "github.com/plinthgo/plinth/openapix/internal/page/jsontree"

// Shape describes a schema for readers.
type Shape struct {
	// Type is the type in words, such as "array of User".
	Type string
	// Rules are the constraints in words.
	Rules []string
	// Values are the accepted values, or empty.
	Values []string
	// Default and Example are JSON values, without the quotes of strings.
	Default, Example string
	// Description is Markdown.
	Description                     string
	Deprecated, ReadOnly, WriteOnly bool
	// File reports that the value is the content of a file.
	File bool
	// Kind is the JSON type, or "" for several types.
	Kind string
	// Fields are the members of the object, or of the objects in the array.
	Fields []Field
	// Variants are the alternatives of the value.
	Variants []Shape
	// Cut reports that Fields and Variants are missing, because the type is described
	// further outside or the description became too long.
	Cut bool
}

// Field is a member of an object.
type Field struct {
	Name     string
	Required bool
	Shape
}

// maxFields limits the fields of a description.
const maxFields = 600

// Shape describes a schema.
func (d *Document) Shape(node *jsontree.Value) Shape {
	return d.shape(d.schema(node))
}

func (d *Document) shape(s *schema) Shape {
	b := builder{doc: d, left: maxFields, open: map[*jsontree.Value]bool{}}
	return b.shape(s)
}

type builder struct {
	doc  *Document
	left int                      // fields until the description is cut
	open map[*jsontree.Value]bool // schemas that are being described
}

func (b *builder) shape(s *schema) Shape {
	shape := Shape{
		Type: s.typeName(0), Rules: s.rules(), Values: Strings(s.get("enum")),
		Description: s.get("description").Str(), Deprecated: s.get("deprecated").True(),
		ReadOnly: s.get("readOnly").True(), WriteOnly: s.get("writeOnly").True(),
		File: s.isFile(),
	}
	if types := s.types(); len(types) == 1 {
		shape.Kind = types[0]
	}
	if v := s.get("const"); v != nil {
		shape.Values = []string{plain(v)}
	}
	if v := s.get("default"); v != nil {
		shape.Default = plain(v)
	}
	if v := s.ownExample(); v != nil && v.Kind() != jsontree.Object {
		shape.Example = plain(v)
	}
	b.expand(&shape, s)
	return shape
}

// expand adds the fields and variants.
func (b *builder) expand(shape *Shape, s *schema) {
	for _, part := range s.parts {
		if b.open[part] || b.left <= 0 {
			shape.Cut = s.isNested()
			return
		}
	}
	for _, part := range s.parts {
		b.open[part] = true
		defer delete(b.open, part)
	}
	for _, p := range s.properties() {
		b.field(shape, p.name, p.required, b.doc.schema(p.nodes...))
	}
	for _, member := range s.get("patternProperties").Members() {
		b.field(shape, member.Name, false, b.doc.schema(member.Value))
	}
	if more := s.get("additionalProperties"); more.Kind() == jsontree.Object {
		b.more(shape, b.doc.schema(more))
	}
	for _, item := range s.get("prefixItems").Items() {
		shape.Variants = append(shape.Variants, b.shape(b.doc.schema(item)))
	}
	if items := s.get("items"); items.Kind() == jsontree.Object {
		b.items(shape, b.doc.schema(items))
	}
	_, variants := s.variants()
	for _, variant := range variants {
		b.left--
		shape.Variants = append(shape.Variants, b.shape(b.doc.schema(variant)))
	}
}

// isNested reports whether the schema has fields or variants.
func (s *schema) isNested() bool {
	_, variants := s.variants()
	return variants != nil || s.get("properties") != nil ||
		s.get("items") != nil || s.get("additionalProperties").Kind() == jsontree.Object
}

func (b *builder) field(shape *Shape, name string, required bool, s *schema) {
	if b.left--; b.left < 0 {
		shape.Cut = true
		return
	}
	shape.Fields = append(shape.Fields, Field{Name: name, Required: required, Shape: b.shape(s)})
}

// more adds the fields of the values of a map.
func (b *builder) more(shape *Shape, s *schema) {
	inner := b.shape(s)
	if inner.Fields != nil || inner.Variants != nil || shape.Fields != nil {
		shape.Fields = append(shape.Fields, Field{Name: "*", Shape: inner})
		return
	}
	shape.addEach("each value: ", inner)
}

// items adds the fields of the items of an array.
func (b *builder) items(shape *Shape, s *schema) {
	inner := b.shape(s)
	shape.Fields = append(shape.Fields, inner.Fields...)
	shape.Variants = append(shape.Variants, inner.Variants...)
	shape.Cut = shape.Cut || inner.Cut
	shape.addEach("each item: ", inner)
}

// addEach adds the rules and values of the items of an array or the values of a map.
func (shape *Shape) addEach(prefix string, inner Shape) {
	for _, rule := range inner.Rules {
		shape.Rules = append(shape.Rules, prefix+rule)
	}
	shape.Values = append(shape.Values, inner.Values...)
	shape.File = shape.File || inner.File
	if shape.Example == "" {
		shape.Example = inner.Example
	}
	if shape.Description == "" {
		shape.Description = inner.Description
	}
}

// Envelope returns the data of an envelope and the names of the other members. It reports
// false if the schema is not an envelope, or the envelope has no data.
func (d *Document) Envelope(node *jsontree.Value) (data Shape, others []string, ok bool) {
	found := map[string]bool{}
	var nodes []*jsontree.Value
	for _, p := range d.schema(node).properties() {
		found[p.name] = true
		if p.name == "data" {
			nodes = p.nodes
		} else {
			others = append(others, p.name)
		}
	}
	if nodes == nil || !found["code"] || !found["message"] {
		return Shape{}, nil, false
	}
	return d.shape(d.schema(nodes...)), others, true
}
