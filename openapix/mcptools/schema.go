package mcptools

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/major/xapi"
)

const (
	componentPrefix  = "#/components/schemas/"
	definitionPrefix = "#/$defs/"
)

// resolve returns the schema to which s refers, or s.
func (d *document) resolve(s object) object {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		s = d.Components.Schemas[strings.TrimPrefix(ref, componentPrefix)]
	}
}

// withDefinitions returns a copy of s that contains the components to which it refers.
func (d *document) withDefinitions(s object) object {
	definitions := object{}
	var convert func(v any) any
	convert = func(v any) any {
		switch v := v.(type) {
		case object:
			copied := make(object, len(v)+1) // and $defs
			for key, value := range v {
				copied[key] = convert(value)
			}
			ref, _ := v["$ref"].(string)
			if name, ok := strings.CutPrefix(ref, componentPrefix); ok {
				copied["$ref"] = definitionPrefix + name
				if _, done := definitions[name]; !done {
					definitions[name] = nil // for recursive schemas
					definitions[name] = convert(d.Components.Schemas[name])
				}
			}
			return copied
		case []any:
			list := make([]any, len(v))
			for i, value := range v {
				list[i] = convert(value)
			}
			return list
		default:
			return v
		}
	}
	root, _ := convert(s).(object)
	if len(definitions) > 0 {
		root["$defs"] = definitions
	}
	return root
}

// members returns the members of a body and the names of those that are required. It
// returns false if the schema has other rules.
func (d *document) members(body object) (members object, required []string, ok bool) {
	s := d.resolve(body)
	for key := range s {
		switch key {
		case "type", "properties", "required", "title", "description", "deprecated", "examples":
		default:
			return nil, nil, false
		}
	}
	members, ok = s["properties"].(object)
	return members, stringList(s["required"]), ok && s["type"] == "object"
}

// output returns the schema of the structured content, or nil. The protocol requires an
// object. wrapped reports whether it has the data as its only member.
func (d *document) output(op *xapi.Operation) (s object, wrapped bool) {
	response := d.operations[op.ID].Responses[strconv.Itoa(op.Status)].Content[mimeJSON].Schema
	data, required := dataOf(response)
	if data == nil && op.Response == xapi.ResponseJSON {
		data, required = response, true
	}
	if data == nil {
		return nil, false
	}
	s = d.resolve(data)
	if wrapped = !required || s["type"] != "object"; wrapped {
		s = object{"type": "object", "properties": object{dataName: data}}
		if required {
			s["required"] = []any{dataName}
		}
	}
	s = d.withDefinitions(s)
	relax(s)
	return s, wrapped
}

// rules are the keywords of binding tags.
var rules = []string{
	"const", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
	"minProperties", "maxProperties", "propertyNames", "not",
}

// relax removes the rules of the binding tags from the schema of a result. The service
// does not validate its results, but clients reject those that do not match.
func relax(s object) {
	for _, rule := range rules {
		delete(s, rule)
	}
	if s["format"] != "date-time" {
		delete(s, "format")
	}
	for keyword, value := range s {
		for _, part := range subschemas(keyword, value) {
			relax(part)
		}
	}
}

// subschemas returns the schemas in the value of a keyword.
func subschemas(keyword string, value any) []object {
	var values []any
	switch value := value.(type) {
	case object:
		if keyword != "properties" && keyword != "$defs" {
			return []object{value}
		}
		values = slices.Collect(maps.Values(value))
	case []any:
		if keyword != "examples" {
			values = value
		}
	}
	var list []object
	for _, v := range values {
		if s, ok := v.(object); ok {
			list = append(list, s)
		}
	}
	return list
}

const dataName = "data"

// dataOf returns the schema of the data in the schema of an envelope, or nil.
func dataOf(envelope object) (data object, required bool) {
	all, _ := envelope["allOf"].([]any)
	for _, part := range all {
		s, _ := part.(object)
		properties, _ := s["properties"].(object)
		if data, ok := properties[dataName].(object); ok {
			return data, slices.Contains(stringList(s["required"]), dataName)
		}
	}
	return nil, false
}

// describe adds the documentation of a parameter to a copy of its schema.
func (p *parameter) describe() object {
	s := maps.Clone(p.Schema)
	if p.Description != "" {
		s["description"] = p.Description
	}
	if p.Deprecated {
		s["deprecated"] = true
	}
	return s
}

func stringList(v any) []string {
	var list []string
	values, _ := v.([]any)
	for _, value := range values {
		if s, ok := value.(string); ok {
			list = append(list, s)
		}
	}
	return list
}
