package envlist

import (
	"strconv"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// dialect is the JSON Schema that Schema is written in.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Patterns of the texts that a type accepts. An empty value counts as not set.
const (
	boolPattern     = `^([tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?|1|0|[yY][eE][sS]|[nN][oO]|[oO][nN]|[oO][fF][fF])?$`
	intPattern      = `^(\s*[+-]?[0-9]+\s*)?$`
	optionalPattern = `^(\s*[+-]?[0-9]+\s*|none)?$` // of an int without a default
	floatPattern    = `^(\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*)?$`
	durationPattern = `^(\s*[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)\s*)?$`
	countedPattern  = `^(\s*[+-]?([0-9]+|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)\s*)?$`
)

// Schema is a JSON Schema of the environment as an object. It describes variables and holds no value.
type Schema struct {
	Schema      string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type"`
	Default     any                `json:"default,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     *int64             `json:"minimum,omitempty"`
	Maximum     *int64             `json:"maximum,omitempty"`
	WriteOnly   bool               `json:"writeOnly,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Group       string             `json:"x-group,omitempty"`
	Packages    []string           `json:"x-packages,omitempty"`
}

// SchemaOf returns the schema of the rows. Every variable may be a text, as in an environment; a number or a boolean may
// also be one of JSON's, as in YAML. The range of a number is checked in that form only.
func SchemaOf(rows []Row) *Schema {
	s := &Schema{
		Schema: dialect, Type: "object", Title: "Environment of a service on Plinth",
		Description: "Every variable that Plinth reads. Others are the application's own.",
		Properties:  map[string]*Schema{},
	}
	for _, r := range rows {
		s.Properties[r.Name] = schemaOf(r.v)
	}
	return s
}

func schemaOf(v xenv.Var) *Schema {
	s := &Schema{Description: v.Meaning, Type: "string", WriteOnly: v.Secret, Group: v.Group, Packages: v.Packages}
	if a := v.Accepted(); a != "" && v.Type != xenv.TypeEnum {
		s.Description += " Accepted: " + a + "."
	}
	if v.Default != "" {
		s.Default = v.Default
	}
	switch v.Type {
	case xenv.TypeBool:
		s.Type, s.Pattern = []string{"boolean", "string"}, boolPattern
		s.Default = v.Default == "true"
	case xenv.TypeInt:
		s.Type, s.Pattern = []string{"integer", "string"}, intPattern
		s.bound(v)
		if n, err := strconv.ParseInt(v.Default, 10, 64); err == nil {
			s.Default = n
		} else {
			s.Pattern = optionalPattern
		}
	case xenv.TypeFloat:
		s.Type, s.Pattern = []string{"number", "string"}, floatPattern
	case xenv.TypeDuration:
		s.Pattern = durationPattern
		if v.Unit != 0 {
			s.Type, s.Pattern = []string{"integer", "string"}, countedPattern
		}
	case xenv.TypeEnum:
		s.Enum = append(append(s.Enum, v.Values...), "")
	case xenv.TypeString, xenv.TypeList:
	}
	return s
}

func (s *Schema) bound(v xenv.Var) {
	if v.Min != 0 || v.Max != 0 {
		s.Minimum, s.Maximum = &v.Min, &v.Max
	}
}
