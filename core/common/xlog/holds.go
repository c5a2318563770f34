package xlog

import (
	"encoding"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

var (
	errorType = reflect.TypeFor[error]()
	urlType   = reflect.TypeFor[url.URL]()
	jsonType  = reflect.TypeFor[json.Marshaler]()
	textType  = reflect.TypeFor[encoding.TextMarshaler]()

	held   jsonplan.Cache[reflect.Type, bool] // by holds
	fields jsonplan.Cache[reflect.Type, []jsonplan.Field]
)

// fieldsOf is jsonplan.Fields that computes them once.
func fieldsOf(t reflect.Type) []jsonplan.Field {
	if known, ok := fields.Load(t); ok {
		return known
	}
	all := jsonplan.Fields(t)
	fields.Store(t, all)
	return all
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
	case encodesItself(t), encodesItself(reflect.PointerTo(t)):
		return false
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // the others hold nothing
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return search(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(fieldsOf(t), func(f jsonplan.Field) bool { return search(f.Type, seen) })
	}
	return false
}

func encodesItself(t reflect.Type) bool { return t.Implements(jsonType) || t.Implements(textType) }
