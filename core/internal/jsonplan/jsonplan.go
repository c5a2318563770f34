// Package jsonplan describes Go types as encoding/json sees them. A package that encodes,
// copies or checks values by reflection makes a plan of each type once, and keeps it in a
// Cache.
package jsonplan

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Cache contains what was computed once for each key, such as the plan of a type. It
// grows with the types of a program. The zero value is ready to use, from any goroutine.
type Cache[K comparable, V any] struct{ m sync.Map }

// Get returns the value of a key, and computes it first if there is none. Several
// goroutines may compute the value of one key.
func (c *Cache[K, V]) Get(k K, compute func(K) V) V {
	stored, ok := c.m.Load(k)
	if !ok {
		stored, _ = c.m.LoadOrStore(k, compute(k))
	}
	v, _ := stored.(V) // nothing else is stored
	return v
}

// DecodesItself reports whether a type reads its own JSON, or the text of a JSON string.
func DecodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Field is a field of a struct as encoding/json sees it.
type Field struct {
	Name    string
	Type    reflect.Type
	Index   []int
	Options []string // of the tag, behind the name
	Tagged  bool     // the name is that of the tag
	Quoted  bool     // the option string applies
}

// Fields returns the fields of a struct that JSON can fill, in the order of their
// declaration, by Go's rules of embedding as encoding/json amends them: of several fields
// with one name the least nested wins, then the one with a tag; if that leaves several,
// none.
func Fields(t reflect.Type) []Field {
	all := allFields(t)
	fields := slices.DeleteFunc(slices.Clone(all),
		func(f Field) bool { return slices.ContainsFunc(all, f.losesTo) })
	slices.SortFunc(fields, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })
	return fields
}

// allFields returns all fields of a struct and of the structs that it embeds, the less
// nested first. If a type is embedded again, its own fields are, but like encoding/json
// it goes no deeper there.
func allFields(t reflect.Type) []Field {
	var all []Field
	seen := map[reflect.Type]bool{}
	for structs := []Field{{Type: t}}; len(structs) > 0; structs = structs[1:] {
		around := structs[0]
		again := seen[around.Type]
		seen[around.Type] = true
		for sf := range around.Type.Fields() {
			f, descend, ok := fieldOf(sf)
			f.Index = append(slices.Clip(around.Index), sf.Index...)
			switch {
			case ok && !descend:
				all = append(all, f)
			case ok && !again:
				structs = append(structs, f)
			}
		}
	}
	return all
}

// losesTo reports whether other has the name of f, and f does not win it.
func (f Field) losesTo(other Field) bool {
	if other.Name != f.Name || slices.Equal(other.Index, f.Index) {
		return false
	}
	return len(other.Index) < len(f.Index) || len(other.Index) == len(f.Index) &&
		(other.Tagged || !f.Tagged)
}

// fieldOf returns what the tag of a field makes of it; descend says that its own fields
// count instead.
func fieldOf(sf reflect.StructField) (f Field, descend, ok bool) {
	tag := sf.Tag.Get("json")
	bare := sf.Type
	if bare.Name() == "" && bare.Kind() == reflect.Pointer {
		bare = bare.Elem()
	}
	embedded := sf.Anonymous && bare.Kind() == reflect.Struct
	if tag == "-" || !sf.IsExported() && !embedded {
		return f, false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isPlain(name) {
		name = tagName(sf.Tag)
	}
	if name == "" && embedded {
		return Field{Type: bare}, true, true
	}
	f = Field{
		Name: cmp.Or(name, sf.Name), Type: sf.Type, Options: strings.Split(options, ","),
		Tagged: name != "",
	}
	f.Quoted = isScalar(bare.Kind()) && slices.Contains(f.Options, "string")
	return f, false, true
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 || k == reflect.String
}

// isPlain reports whether the name of a tag is surely that of the member.
func isPlain(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == ""
}

// tagName returns the name that encoding/json reads from a tag, "" if it ignores the
// name. What it does with a name of other characters differs between versions of Go, so a
// value is encoded.
func tagName(tag reflect.StructTag) string {
	const fieldName = "X"
	field := reflect.StructField{Name: fieldName, Type: reflect.TypeFor[bool](), Tag: tag}
	v := reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem()
	v.Field(0).SetBool(true) // not left out by omitempty
	data, _ := json.Marshal(v.Interface())
	var members map[string]any
	_ = json.Unmarshal(data, &members) // no members if a tag is an error
	for name := range members {
		if name != fieldName {
			return name
		}
	}
	return ""
}
