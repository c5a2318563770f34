package xlog

import (
	"encoding"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

const (
	// maxDepth bounds how deep a plainer looks: a map may hold itself. encoding/json refuses what remains.
	maxDepth = 16
	// maxNodes bounds how many values it looks into: those that refer to each other have very many paths.
	maxNodes = 10_000
)

// plainer replaces what encoding/json would lose or show: errors, which it writes as {}, by their text, and URLs by one
// without secrets. Structs that can hold one become others of the same fields, so that encoding/json stays the one who
// knows about tags.
type plainer struct {
	mask  *maskSet
	nodes int
}

var (
	errorType = reflect.TypeFor[error]()
	urlType   = reflect.TypeFor[url.URL]()
	anyType   = reflect.TypeFor[any]()
	jsonType  = reflect.TypeFor[json.Marshaler]()
	textType  = reflect.TypeFor[encoding.TextMarshaler]()
)

// plain returns v, or what is to be encoded in its place.
func (p *plainer) plain(v any) any {
	if v == nil {
		return nil
	}
	return p.convert(reflect.ValueOf(v), 0)
}

func (p *plainer) convert(v reflect.Value, depth int) any {
	t := v.Type()
	if !holds(t) {
		return v.Interface()
	}
	if text, ok := p.text(v); ok {
		return text
	}
	if depth == maxDepth || p.nodes == maxNodes {
		return v.Interface()
	}
	p.nodes++
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return p.convert(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		return p.list(v, depth+1)
	case reflect.Map:
		return p.mapping(v, depth+1)
	default:
		return p.structure(v, planOf(t), depth+1)
	}
}

// text returns the text of an error or a URL.
func (p *plainer) text(v reflect.Value) (string, bool) {
	switch t := v.Type(); {
	case t.Kind() == reflect.Interface:
		return "", false
	case t.Implements(errorType):
		err, _ := reflect.TypeAssert[error](v)
		return errorText(err), true
	case t == urlType:
		u, _ := reflect.TypeAssert[url.URL](v)
		return urlText(&u, p.mask), true
	case t == reflect.PointerTo(urlType):
		u, _ := reflect.TypeAssert[*url.URL](v)
		return urlText(u, p.mask), true
	}
	return "", false
}

func (p *plainer) list(v reflect.Value, depth int) any {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nil
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = p.convert(v.Index(i), depth)
	}
	return out
}

func (p *plainer) mapping(v reflect.Value, depth int) any {
	if v.IsNil() {
		return nil
	}
	out := reflect.MakeMapWithSize(reflect.MapOf(v.Type().Key(), anyType), v.Len())
	for entries := v.MapRange(); entries.Next(); {
		set(out, entries.Key(), p.convert(entries.Value(), depth))
	}
	return out.Interface()
}

// set is out[key] = value, where a nil is one too.
func set(out, key reflect.Value, value any) {
	if value == nil {
		out.SetMapIndex(key, reflect.Zero(anyType))
		return
	}
	out.SetMapIndex(key, reflect.ValueOf(value))
}

// structure copies v. encoding/json calls the methods of a pointer only where there can be one, so the copy has one
// where v has.
func (p *plainer) structure(v reflect.Value, s *plan, depth int) any {
	out := reflect.New(s.copied)
	p.fill(out.Elem(), v, s, depth)
	if v.CanAddr() {
		return out.Interface()
	}
	return out.Elem().Interface()
}

func (p *plainer) fill(out, v reflect.Value, s *plan, depth int) {
	for i := range s.fields {
		f := &s.fields[i]
		from, to := v.Field(f.index), out.Field(i)
		switch {
		case f.embedded != nil:
			if from.Kind() == reflect.Pointer {
				if from.IsNil() {
					continue
				}
				to.Set(reflect.New(f.embedded.copied))
				from, to = from.Elem(), to.Elem()
			}
			p.fill(to, from, f.embedded, depth)
		case !f.holds:
			to.Set(from)
		case !f.omits(from):
			if value := p.field(from, depth); value != nil {
				to.Set(reflect.ValueOf(value))
			}
		}
	}
}

// field is convert that leaves a nil pointer what it is: in a list it is an error that was given, here it is none.
func (p *plainer) field(v reflect.Value, depth int) any {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return p.convert(v, depth)
}

// plan says how to copy a type of struct.
type plan struct {
	copied reflect.Type
	fields []planned // in the order of copied
}

type planned struct {
	index     int
	holds     bool  // it may hold an error, and is an any in the copy
	embedded  *plan // its fields stand among those of the struct
	omitEmpty bool
	omitZero  bool
}

// omits reports whether the tag leaves this value out.
func (f *planned) omits(v reflect.Value) bool {
	if f.omitZero {
		if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
			return z.IsZero()
		}
		return v.IsZero()
	}
	switch v.Kind() { //nolint:exhaustive // the others are never empty, or cannot hold an error
	case reflect.Slice, reflect.Map, reflect.Array:
		return f.omitEmpty && v.Len() == 0
	case reflect.Interface, reflect.Pointer:
		return f.omitEmpty && v.IsNil()
	}
	return false
}

var (
	plans jsonplan.Cache[reflect.Type, *plan]
	held  jsonplan.Cache[reflect.Type, bool] // by holds
)

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p
	}
	p := makePlan(t, nil)
	plans.Store(t, p)
	return p
}

// makePlan follows the rules of encoding/json about which fields count, and keeps names and tags for it. within are the
// structs that t is embedded in.
func makePlan(t reflect.Type, within []reflect.Type) *plan {
	within = append(slices.Clip(within), t)
	p := &plan{}
	var copied []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		at := planned{index: i, omitEmpty: hasOption(options, "omitempty"), omitZero: hasOption(options, "omitzero")}
		field := reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
		base, inside := embedded(f)
		switch {
		case tag == "-", !inside && !f.IsExported():
			continue
		case inside && (name == "" || !f.IsExported()):
			if slices.Contains(within, base) {
				continue // encoding/json looks into each once
			}
			at.embedded = makePlan(base, within)
			field.Name, field.Anonymous, field.Type = "X_"+strconv.Itoa(i), name == "", at.embedded.copied
			if base != f.Type {
				field.Type = reflect.PointerTo(field.Type)
			}
		case holds(f.Type):
			at.holds, field.Type = true, anyType
		}
		p.fields = append(p.fields, at)
		copied = append(copied, field)
	}
	p.copied = reflect.StructOf(copied)
	return p
}

func hasOption(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

// embedded returns the struct that f embeds, as itself or by a pointer.
func embedded(f reflect.StructField) (base reflect.Type, ok bool) {
	base = f.Type
	if base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	return base, f.Anonymous && base.Kind() == reflect.Struct
}

// holds reports whether a value of type t is, or may hold, something to be replaced.
func holds(t reflect.Type) bool {
	if known, ok := held.Load(t); ok {
		return known
	}
	found := search(t, map[reflect.Type]bool{})
	held.Store(t, found)
	return found
}

// search is holds without what is known. A type that is being searched adds nothing to itself.
func search(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch {
	case seen[t]:
		return false
	case t.Implements(errorType), t == urlType:
		return true
	case t.Implements(jsonType), t.Implements(textType), reflect.PointerTo(t).Implements(jsonType), reflect.PointerTo(t).Implements(textType):
		return false // it writes itself
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // the others hold nothing
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return search(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && search(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
