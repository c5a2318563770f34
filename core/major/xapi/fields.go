package xapi

import (
	"reflect"
	"slices"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// Field is a member of the JSON object of a struct.
type Field struct {
	// Name is the name of the member.
	Name string
	// Field is the field of the struct. Its Index is the path from the outermost struct.
	Field reflect.StructField
	// Quoted reports whether the value is a string that contains the JSON value.
	Quoted bool
	// Optional reports whether the encoder may omit the member.
	Optional bool
}

// Fields returns the members of the JSON object of a struct, in the order of declaration.
// It follows the rules of encoding/json for tags and embedded structs.
func Fields(t reflect.Type) []Field {
	var list []Field
	for _, f := range jsonplan.Fields(t) {
		sf := t.FieldByIndex(f.Index)
		sf.Index = f.Index
		list = append(list, Field{
			Name: f.Name, Field: sf, Quoted: f.Quoted,
			Optional: slices.Contains(f.Options, "omitempty") ||
				slices.Contains(f.Options, "omitzero"),
		})
	}
	return list
}
