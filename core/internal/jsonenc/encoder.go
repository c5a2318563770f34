// Package jsonenc encodes values to the same bytes as encoding/json of Go 1.27, on every
// supported version of Go. It compiles a plan for each type once.
package jsonenc

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

const null = "null"

// Encoder appends values as JSON. The zero value produces the same output as
// json.Marshal. Do not change the fields after the first use. An Encoder is safe for
// concurrent use.
type Encoder struct {
	// KeepHTML disables escaping of &, < and >.
	KeepHTML bool

	// Replace returns a function that converts values of type t into the text to encode
	// instead. If it returns nil, values of type t are not replaced. An Encoder calls
	// Replace for each type except interface types. A nil pointer in a struct field is
	// encoded as null; other nil pointers are replaced.
	Replace func(t reflect.Type) func(v reflect.Value) string

	plans   jsonplan.Cache[reflect.Type, *plan]
	writers sync.Pool // of *writer
}

// errTooDeep is the error for a value that is too deep to apply replacements.
var errTooDeep = errors.New("json: value is nested too deep")

// Append appends the JSON encoding of v to dst. If v cannot be encoded, Append returns
// dst unchanged and the error of encoding/json.
func (e *Encoder) Append(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return append(dst, null...), nil
	}
	if out, ok := e.planOf(reflect.TypeOf(v)).append(dst, reflect.ValueOf(v), 0); ok {
		return out, nil
	}
	out, err := e.appendAny(dst, v)
	if err == nil && e.Replace != nil {
		return dst, errTooDeep
	}
	return out, err
}

// AppendString appends s to dst as a JSON string. It replaces each invalid byte with an
// unescaped U+FFFD, like Go 1.27 and later.
func (e *Encoder) AppendString(dst []byte, s string) []byte {
	if isPlain(s) {
		return appendPlain(dst, s)
	}
	out, _ := e.appendAny(dst, s) // encoding a string cannot fail
	return out
}

// appendAny encodes v with encoding/json and produces the same bytes on all Go versions.
func (e *Encoder) appendAny(dst []byte, v any) ([]byte, error) {
	w, ok := e.writers.Get().(*writer)
	if !ok {
		w = new(writer)
		w.json = json.NewEncoder(w)
		w.json.SetEscapeHTML(!e.KeepHTML)
	}
	w.out = dst
	err := w.json.Encode(v)
	out := w.out
	w.out = nil
	e.writers.Put(w)
	if err != nil {
		return dst, err
	}
	out = out[:len(out)-1] // remove the newline of json.Encoder
	if text := out[len(dst):]; bytes.Contains(text, escapedReplacement) {
		out = append(out[:len(dst)], replacement.Replace(string(text))...)
	}
	return out, nil
}

var (
	escapedReplacement = []byte(`\ufffd`)

	// replacement unescapes U+FFFD. Before Go 1.27, encoding/json escapes the replacement
	// for invalid UTF-8.
	replacement = strings.NewReplacer(`\\`, `\\`, `\ufffd`, string(utf8.RuneError))
)

// writer appends the output of a json.Encoder to a borrowed buffer. encoding/json writes
// a value in one call after it is encoded completely, so an error leaves the buffer
// unchanged.
type writer struct {
	json *json.Encoder
	out  []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}
