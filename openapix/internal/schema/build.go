package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// Direction distinguishes the values of a type that clients send and receive. They differ
// in the required members and in null.
type Direction uint8

// Directions.
const (
	Response Direction = iota
	Request
)

// part is the part of a struct that a component describes.
type part uint8

const (
	whole    part = iota
	bodyPart      // the members of the body of an input that also has parameters
	formPart      // the fields of the form of an input
)

type key struct {
	typ  reflect.Type
	dir  Direction
	part part
}

// Doc is the documentation of a type or of a field.
type Doc struct {
	Text       string
	Deprecated bool
}

// Builder builds the schemas of a document. It is not safe for concurrent use.
type Builder struct {
	// Comments returns the doc comment of a type or of a field by its qualified name,
	// such as example.com/shop.User.Name.
	Comments func(name string) Doc

	components map[key]*Component
	keys       []key              // in the order of their first use
	defined    []*Component       // by Define
	checked    map[[3]string]bool // valid examples and defaults
	field      string             // the current field
	errs       []error
}

// New returns a Builder.
func New(comments func(name string) Doc) *Builder {
	return &Builder{
		Comments: comments, components: map[key]*Component{}, checked: map[[3]string]bool{},
	}
}

// Define adds a component that describes no type of the application. Its name must be
// unique.
func (b *Builder) Define(name string, s *Schema) *Component {
	c := &Component{Name: name, Schema: s}
	b.defined = append(b.defined, c)
	return c
}

// Type returns the schema of a JSON value. A pointer does not accept null, because the
// caller omits a nil pointer.
func (b *Builder) Type(t reflect.Type, dir Direction) *Schema {
	return b.base(indirect(t), dir)
}

// Body returns the schema of the JSON body of an input.
func (b *Builder) Body(t reflect.Type, l *xbind.Layout) *Schema {
	if t.Kind() != reflect.Struct || len(l.Params) == 0 {
		return b.Type(t, Request)
	}
	return b.component(key{t, Request, bodyPart}, func(s *Schema) {
		b.addMembers(s, t, Request, func(f xapi.Field) bool {
			return !slices.ContainsFunc(l.Params, func(p xbind.Param) bool {
				return slices.Equal(p.Field.Index, f.Field.Index)
			})
		})
	})
}

// Form returns the schema of the form of an input.
func (b *Builder) Form(t reflect.Type, l *xbind.Layout) *Schema {
	return b.component(key{t, Request, formPart}, func(s *Schema) {
		for i := range l.FormFields {
			p := &l.FormFields[i]
			field, required := b.Param(t, p)
			s.add(p.Name, field, required)
		}
	})
}

func (s *Schema) add(name string, property *Schema, required bool) {
	s.Properties = append(s.Properties, Property{name, property})
	if required {
		s.Required = append(s.Required, name)
	}
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// value returns the schema of a value of any type, which accepts null if nil is possible.
func (b *Builder) value(t reflect.Type, dir Direction) *Schema {
	s := b.base(indirect(t), dir)
	if canBeNull(t, dir) {
		return Nullable(s)
	}
	return s
}

// canBeNull reports whether a value of the type may be null. A nil list is null in a
// response; in a request it is accepted, but an empty list is clearer.
func canBeNull(t reflect.Type, dir Direction) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return true
	case reflect.Slice, reflect.Map:
		return dir == Response && !encodesItself(t, dir)
	default:
		return false
	}
}

// base returns the schema of a value that is not null. t is not a pointer.
func (b *Builder) base(t reflect.Type, dir Direction) *Schema {
	if s := known(t); s != nil {
		return s
	}
	if encodesItself(t, dir) {
		return custom(t, dir)
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return b.list(t, dir)
	case reflect.Map:
		s := Of("object")
		s.AdditionalProperties = b.value(t.Elem(), dir)
		if t.Key().Kind() != reflect.String && !encodesText(t.Key()) {
			s.PropertyNames = &Schema{Pattern: patternInteger}
		}
		return s
	case reflect.Struct:
		return b.structure(t, dir)
	case reflect.Interface:
		return &Schema{}
	default:
		s := scalar(t)
		if s == nil {
			b.failType(t)
			return &Schema{}
		}
		return s
	}
}

func (b *Builder) fail(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// failType reports a type without a JSON value.
func (b *Builder) failType(t reflect.Type) {
	if b.field == "" {
		b.fail("the type %s cannot be JSON", t)
		return
	}
	b.fail("%s: the type %s cannot be JSON: exclude the field with the tag json:\"-\"", b.field, t)
}

func (b *Builder) list(t reflect.Type, dir Direction) *Schema {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 &&
		!encodesItself(t.Elem(), dir) {
		return &Schema{Types: []string{"string"}, ContentEncoding: "base64"}
	}
	s := Of("array")
	s.Items = b.value(t.Elem(), dir)
	if t.Kind() == reflect.Array {
		n := int64(t.Len())
		s.MinItems, s.MaxItems = &n, &n
	}
	return s
}

func (b *Builder) structure(t reflect.Type, dir Direction) *Schema {
	if t.Name() == "" {
		s := Of("object")
		b.addMembers(s, t, dir, nil)
		return s
	}
	return b.component(key{t, dir, whole}, func(s *Schema) { b.addMembers(s, t, dir, nil) })
}

// component returns a reference to the component of a struct. It adds the component on
// first use.
func (b *Builder) component(k key, fill func(*Schema)) *Schema {
	c := b.components[k]
	if c == nil {
		c = &Component{Schema: Of("object"), Type: qualified(k.typ)}
		b.components[k] = c
		b.keys = append(b.keys, k)
		doc := b.Comments(c.Type)
		c.Schema.Description, c.Schema.Deprecated = doc.Text, doc.Deprecated
		fill(c.Schema)
	}
	return &Schema{Ref: c}
}

// qualified returns the import path and the name of a type, without type arguments.
func qualified(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath() + "." + name
}

// addMembers adds the members of a struct that include accepts. A nil include accepts
// all.
func (b *Builder) addMembers(
	s *Schema, t reflect.Type, dir Direction, include func(xapi.Field) bool,
) {
	outer := b.field
	defer func() { b.field = outer }()
	for _, f := range xapi.Fields(t) {
		b.field = "field " + f.Field.Name + " of " + qualified(t)
		if include == nil || include(f) {
			property, required := b.member(t, f, dir)
			s.add(f.Name, property, required)
		}
	}
}

// member returns the schema of a member, and whether it is required.
func (b *Builder) member(t reflect.Type, f xapi.Field, dir Direction) (*Schema, bool) {
	ft := f.Field.Type
	base := b.base(indirect(ft), dir)
	class := classOf(indirect(ft), base)
	if f.Quoted {
		base, class = quoted(indirect(ft)), classOther
	}
	r := b.apply(base, ft, class, dir, f.Field.Tag.Get("binding"))
	nested := class == classStruct && ft.Kind() == reflect.Struct && !r.optional &&
		len(base.object().Required) > 0
	rejectsZero := r.rejectsZero || nested
	nullable := canBeNull(ft, dir) && !r.rejectsNil
	if dir == Response {
		nullable = nullable && !f.Optional
	}
	s := base
	if nullable {
		s = Nullable(base)
	}
	b.document(s, t, f.Field, f.Name, nil)
	if dir == Request {
		return s, rejectsZero
	}
	return s, !f.Optional && !crossesPointer(t, f.Field.Index)
}

// object returns the schema that a reference refers to.
func (s *Schema) object() *Schema {
	if s.Ref != nil {
		return s.Ref.Schema
	}
	return s
}

// crossesPointer reports whether a field belongs to an embedded pointer, which may be
// nil.
func crossesPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// document adds the description and the example of a field. p is nil for a member of a
// JSON object.
func (b *Builder) document(
	s *Schema, t reflect.Type, f reflect.StructField, name string, p *xbind.Param,
) {
	owner := t
	for _, i := range f.Index[:len(f.Index)-1] {
		owner = indirect(owner.Field(i).Type)
	}
	doc := b.Comments(qualified(owner) + "." + f.Name)
	s.Description, s.Deprecated = doc.Text, doc.Deprecated
	if text := f.Tag.Get("doc"); text != "" {
		s.Description = text
	}
	if text, ok := f.Tag.Lookup("example"); ok {
		v := sample{qualified(owner), f, name, p, "example", text}
		if value := b.literal(v, s); value != nil {
			s.Examples = []any{value}
		}
	}
}
