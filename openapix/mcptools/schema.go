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
	if root := d.resolve(data); required && root["type"] == "object" {
		return d.withDefinitions(root), false
	}
	s = object{"type": "object", "properties": object{dataName: data}}
	if required {
		s["required"] = []any{dataName}
	}
	return d.withDefinitions(s), true
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
