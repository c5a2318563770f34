package envlist

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Patterns of the values that a type accepts. An empty value counts as unset.
const (
	boolPattern     = `^([tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?|1|0|[yY][eE][sS]|[nN][oO]|[oO][nN]|[oO][fF][fF])?$`
	intPattern      = `^(\s*[+-]?[0-9]+\s*)?$`
	optionalPattern = `^(\s*[+-]?[0-9]+\s*|none)?$` // an int without a default
	floatPattern    = `^(\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*)?$`
	durationPattern = `^(\s*[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)\s*)?$`
	durationOrCount = `^(\s*[+-]?([0-9]+|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)\s*)?$` // a duration or a number of units
)

// SchemaOf returns a JSON Schema of the environment as an object, without values. Every
// variable may be a string. Numbers and booleans may also be JSON values, as in YAML;
// only then is the range checked.
func SchemaOf(rows []Row) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Schema: dialect, Type: "object", Title: "Environment of a Plinth service",
		Description: "Every variable that Plinth reads. Other variables belong to the application.",
		Properties:  map[string]*jsonschema.Schema{},
	}
	for _, r := range rows {
		s.Properties[r.Name] = schemaOf(r.v)
	}
	return s
}

func schemaOf(v xenv.Var) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Description: v.Meaning, WriteOnly: v.Secret,
		Extra: map[string]any{"x-group": v.Group, "x-packages": v.Packages},
	}
	if a := v.Accepted(); a != "" && v.Type != xenv.TypeEnum {
		s.Description += " Accepted: " + a + "."
	}
	if v.Default != "" {
		s.Default = json.RawMessage(strconv.Quote(v.Default))
	}
	if other := describe(s, v); other != "" {
		s.Types = []string{other, "string"}
	} else {
		s.Type = "string"
	}
	return s
}

// describe sets the keywords that depend on the type, and returns the JSON type that is
// accepted in addition to string.
func describe(s *jsonschema.Schema, v xenv.Var) (other string) {
	switch v.Type {
	case xenv.TypeBool:
		s.Pattern, s.Default = boolPattern, json.RawMessage(strconv.FormatBool(v.Default == "true"))
		return "boolean"
	case xenv.TypeInt:
		if v.Min != 0 || v.Max != 0 {
			s.Minimum, s.Maximum = new(float64(v.Min)), new(float64(v.Max))
		}
		s.Pattern = optionalPattern
		if v.Default != "" {
			s.Pattern, s.Default = intPattern, json.RawMessage(v.Default)
		}
		return "integer"
	case xenv.TypeFloat:
		s.Pattern = floatPattern
		return "number"
	case xenv.TypeDuration:
		s.Pattern = durationPattern
		if v.Unit != 0 {
			s.Pattern = durationOrCount
			return "integer"
		}
	case xenv.TypeEnum:
		for _, value := range append(slices.Clone(v.Values), "") {
			s.Enum = append(s.Enum, value)
		}
	case xenv.TypeString, xenv.TypeList:
	}
	return ""
}
