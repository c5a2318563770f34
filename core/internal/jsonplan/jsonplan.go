// Package jsonplan describes Go types as encoding/json sees them. Packages that encode,
// copy or check values by reflection compute a plan of each type once and store it in a
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

// Cache stores one computed value for each key, such as the plan of a type. It never
// evicts a value. The zero value is ready to use. A Cache is safe for concurrent use.
type Cache[K comparable, V any] struct{ m sync.Map }

// Get returns the value of k. If the value is missing, Get computes and stores it.
// Several goroutines may compute the value of a key concurrently; Get returns the same
// value to all of them.
func (c *Cache[K, V]) Get(k K, compute func(K) V) V {
	stored, ok := c.m.Load(k)
	if !ok {
		stored, _ = c.m.LoadOrStore(k, compute(k))
	}
	v, _ := stored.(V) // the map contains values of type V only
	return v
}

// DecodesItself reports whether t implements json.Unmarshaler or
// encoding.TextUnmarshaler, directly or through a pointer.
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
	Options []string // options of the tag, without the name
	Tagged  bool     // the tag contains the name
	Quoted  bool     // the option "string" applies
}

// Fields returns the fields of a struct that JSON can fill, in the order of declaration.
// It follows the embedding rules of encoding/json. If several fields have one name, the
// least nested field is used, then a field with a tag. If several fields remain, all are
// ignored.
func Fields(t reflect.Type) []Field {
	all := allFields(t)
	fields := slices.DeleteFunc(slices.Clone(all),
		func(f Field) bool { return slices.ContainsFunc(all, f.losesTo) })
	slices.SortFunc(fields, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })
	return fields
}

// allFields returns all fields of a struct and of the structs that it embeds, the less
// nested fields first. Like encoding/json, it descends into each embedded type once.
func allFields(t reflect.Type) []Field {
	var all []Field
	seen := map[reflect.Type]bool{}
	for structs := []Field{{Type: t}}; len(structs) > 0; structs = structs[1:] {
		outer := structs[0]
		repeated := seen[outer.Type]
		seen[outer.Type] = true
		for sf := range outer.Type.Fields() {
			f, descend, ok := fieldOf(sf)
			f.Index = append(slices.Clip(outer.Index), sf.Index...)
			switch {
			case ok && !descend:
				all = append(all, f)
			case ok && !repeated:
				structs = append(structs, f)
			}
		}
	}
	return all
}

// losesTo reports whether other has the same name as f and hides f or conflicts with it.
func (f Field) losesTo(other Field) bool {
	if other.Name != f.Name || slices.Equal(other.Index, f.Index) {
		return false
	}
	return len(other.Index) < len(f.Index) || len(other.Index) == len(f.Index) &&
		(other.Tagged || !f.Tagged)
}

// fieldOf applies the tag of a field. If descend is true, the fields of the embedded
// struct are used instead of the field.
func fieldOf(sf reflect.StructField) (f Field, descend, ok bool) {
	tag := sf.Tag.Get("json")
	base := sf.Type
	if base.Name() == "" && base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	embedded := sf.Anonymous && base.Kind() == reflect.Struct
	if tag == "-" || !sf.IsExported() && !embedded {
		return f, false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isPlain(name) {
		name = tagName(sf.Tag)
	}
	if name == "" && embedded {
		return Field{Type: base}, true, true
	}
	f = Field{
		Name: cmp.Or(name, sf.Name), Type: sf.Type, Options: strings.Split(options, ","),
		Tagged: name != "",
	}
	f.Quoted = isScalar(base.Kind()) && slices.Contains(f.Options, "string")
	return f, false, true
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 || k == reflect.String
}

// isPlain reports whether every version of encoding/json accepts the name of a tag.
func isPlain(name string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	return strings.Trim(name, plain) == ""
}

// tagName returns the name that encoding/json reads from a tag, or "" if it ignores the
// name. Go versions treat unusual characters differently, so tagName encodes a value to
// determine the name.
func tagName(tag reflect.StructTag) string {
	const fieldName = "X"
	field := reflect.StructField{Name: fieldName, Type: reflect.TypeFor[bool](), Tag: tag}
	v := reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem()
	v.Field(0).SetBool(true) // otherwise omitempty omits the field
	data, _ := json.Marshal(v.Interface())
	var members map[string]any
	_ = json.Unmarshal(data, &members) // an invalid tag yields no members
	for name := range members {
		if name != fieldName {
			return name
		}
	}
	return ""
}
