// Package schema describes Go types as JSON schemas (draft 2020-12, the dialect of
// OpenAPI 3.1): the types by the rules of encoding/json, and the values by the binding
// tags.
package schema

import (
	"encoding/json"

	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// Schema is a JSON schema with the keywords that this package generates. A keyword with
// its zero value is absent. Numbers have the type json.Number, so that bounds of 64 bits
// stay exact.
type Schema struct {
	Ref *Component

	Title, Description string
	Deprecated         bool
	Default            any
	Examples           []any

	Types  []string
	Format string
	Enum   []any
	Const  any

	Minimum, Maximum                   json.Number
	ExclusiveMinimum, ExclusiveMaximum json.Number
	MinLength, MaxLength               *int64
	Pattern                            string

	Items              *Schema
	MinItems, MaxItems *int64
	UniqueItems        bool

	Properties                   []Property
	Required                     []string
	AdditionalProperties         *Schema
	PropertyNames                *Schema
	MinProperties, MaxProperties *int64

	AllOf, AnyOf []*Schema
	Not          *Schema
	If, Then     *Schema

	ContentEncoding string
	// Binding is the extension x-binding: the rules that the keywords do not express
	// exactly.
	Binding string
}

// Property is a property of an object.
type Property struct {
	Name   string
	Schema *Schema
}

// Component is a schema with a name. Several schemas can refer to it.
type Component struct {
	// Name is set when the document is complete.
	Name   string
	Schema *Schema
	// Type is the qualified name of the Go type, such as example.com/shop.User.
	Type string
}

const refPrefix = "#/components/schemas/"

// Tree returns the schema as a JSON object.
func (s *Schema) Tree() *tree.Object {
	o := tree.New()
	if s.Ref != nil {
		o.Set("$ref", refPrefix+s.Ref.Name)
	}
	switch len(s.Types) {
	case 0:
	case 1:
		o.Set("type", s.Types[0])
	default:
		o.Set("type", tree.Strings(s.Types))
	}
	o.Add("title", s.Title).Add("description", s.Description).Add("deprecated", s.Deprecated)
	o.Add("format", s.Format).Add("enum", s.Enum)
	if s.Const != nil {
		o.Set("const", s.Const)
	}
	o.Add("minimum", s.Minimum).Add("exclusiveMinimum", s.ExclusiveMinimum)
	o.Add("maximum", s.Maximum).Add("exclusiveMaximum", s.ExclusiveMaximum)
	o.Add("minLength", s.MinLength).Add("maxLength", s.MaxLength).Add("pattern", s.Pattern)
	o.Add("contentEncoding", s.ContentEncoding)
	addSchema(o, "items", s.Items)
	o.Add("minItems", s.MinItems).Add("maxItems", s.MaxItems).Add("uniqueItems", s.UniqueItems)
	o.Add("required", tree.Strings(s.Required))
	if s.Properties != nil {
		properties := tree.New()
		for _, p := range s.Properties {
			properties.Set(p.Name, p.Schema.Tree())
		}
		o.Set("properties", properties)
	}
	addSchema(o, "additionalProperties", s.AdditionalProperties)
	addSchema(o, "propertyNames", s.PropertyNames)
	o.Add("minProperties", s.MinProperties).Add("maxProperties", s.MaxProperties)
	o.Add("allOf", trees(s.AllOf)).Add("anyOf", trees(s.AnyOf))
	addSchema(o, "not", s.Not)
	addSchema(o, "if", s.If)
	addSchema(o, "then", s.Then)
	if s.Default != nil {
		o.Set("default", s.Default)
	}
	o.Add("examples", s.Examples).Add("x-binding", s.Binding)
	return o
}

func addSchema(o *tree.Object, key string, s *Schema) {
	if s != nil {
		o.Set(key, s.Tree())
	}
}

func trees(list []*Schema) []any {
	var objects []any
	for _, s := range list {
		objects = append(objects, s.Tree())
	}
	return objects
}

// Of returns a schema with one type.
func Of(typ string) *Schema { return &Schema{Types: []string{typ}} }

// Nullable returns a schema that also accepts null.
func Nullable(s *Schema) *Schema {
	switch {
	case s.isAny():
		return s
	case s.Ref != nil:
		return &Schema{AnyOf: []*Schema{s, Of("null")}}
	case s.Enum != nil:
		s.Enum = append(s.Enum, nil)
	}
	s.Types = append(s.Types, "null")
	return s
}

// isAny reports whether the schema has no type, so that it accepts null already.
func (s *Schema) isAny() bool { return s.Ref == nil && s.Types == nil }
