package xlog

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlog/internal/masking"
)

const (
	// maxDepth bounds how deep a plainer looks: a map may hold itself. encoding/json refuses what
	// remains.
	maxDepth = 16
	// maxNodes bounds how many values it looks into: those that refer to each other have very
	// many paths.
	maxNodes = 10_000
)

// plainer encodes what encoding/json would lose or show: errors, which it writes as {}, by their
// text, and URLs without their secrets. It takes apart only what can hold one of them; the rest
// is left to encoding/json.
type plainer struct {
	mask  *masking.Set
	nodes int
	err   error // the first one, which ends the work
}

var (
	rawType = reflect.TypeFor[json.RawMessage]()
	null    = json.RawMessage("null")
)

// marshal is json.Marshal that keeps HTML characters readable.
func (p *plainer) marshal(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && p.err == nil {
		p.err = err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func (p *plainer) encode(v reflect.Value, depth int) json.RawMessage {
	if p.err != nil {
		return null
	}
	if !holds(v.Type()) {
		return p.marshal(reachable(v))
	}
	if text, ok := p.text(v); ok {
		return p.marshal(text)
	}
	if depth == maxDepth || p.nodes == maxNodes {
		return p.marshal(v.Interface())
	}
	p.nodes++
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return null
		}
		return p.encode(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		return p.list(v, depth+1)
	case reflect.Map:
		return p.mapping(v, depth+1)
	default:
		return p.structure(v, depth+1)
	}
}

// reachable returns v, by a pointer where there can be one: encoding/json calls the methods of a
// pointer only there.
func reachable(v reflect.Value) any {
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	return v.Interface()
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
		return p.mask.URL(&u), true
	}
	return "", false
}

func (p *plainer) list(v reflect.Value, depth int) json.RawMessage {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return null
	}
	out := make([]json.RawMessage, v.Len())
	for i := range out {
		out[i] = p.encode(v.Index(i), depth)
	}
	return p.marshal(out)
}

func (p *plainer) mapping(v reflect.Value, depth int) json.RawMessage {
	if v.IsNil() {
		return null
	}
	out := reflect.MakeMapWithSize(reflect.MapOf(v.Type().Key(), rawType), v.Len())
	for entries := v.MapRange(); entries.Next(); {
		out.SetMapIndex(entries.Key(), reflect.ValueOf(p.encode(entries.Value(), depth)))
	}
	return p.marshal(out.Interface())
}

func (p *plainer) structure(v reflect.Value, depth int) json.RawMessage {
	out := []byte{'{'}
	for _, f := range fieldsOf(v.Type()) {
		value, err := v.FieldByIndexErr(f.Index)
		if err != nil || omits(f.Options, value) { // a nil pointer to an embedded struct has no fields
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, f.Name), ':')
		out = append(out, p.member(value, f.Quoted, depth)...)
	}
	return append(out, '}')
}

func (p *plainer) member(v reflect.Value, quoted bool, depth int) json.RawMessage {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return null // in a list it is an error that was given, here it is none
	}
	text := p.encode(v, depth)
	if quoted {
		return p.marshal(string(text))
	}
	return text
}

// omits reports whether the options of a field's tag leave this value out.
func omits(options string, v reflect.Value) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == "omitempty" && isEmpty(v) || option == "omitzero" && isZero(v) {
			return true
		}
	}
	return false
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

func isZero(v reflect.Value) bool {
	z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v)
	if !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return v.IsZero()
	}
	return z.IsZero()
}
