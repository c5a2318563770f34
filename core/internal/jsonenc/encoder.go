// Package jsonenc encodes values as encoding/json of Go 1.27 does, to the byte and on
// every supported version of Go, by a plan that it makes once for each type.
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

// Encoder appends values as JSON. The zero value writes what json.Marshal writes. The
// fields must not change after the first use; then an Encoder is safe for concurrent use.
type Encoder struct {
	// KeepHTML writes the characters that HTML reads as markup as they are.
	KeepHTML bool

	// Replace returns the function that turns values of type t into the text to write
	// instead of them, nil if they are written as they are. It is called once for each
	// type that is no interface. A nil pointer in a struct is null, everywhere else it is
	// replaced too.
	Replace func(t reflect.Type) func(v reflect.Value) string

	plans   jsonplan.Cache[reflect.Type, *plan]
	writers sync.Pool // of *writer
}

// errTooDeep is the error of a value that encoding/json would write without replacements.
var errTooDeep = errors.New("json: value is nested too deep")

// Append appends v to dst. If v cannot be encoded, dst comes back as it was, with the
// error of encoding/json.
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

// AppendString appends s to dst as a JSON string. An invalid byte becomes the character
// U+FFFD, unescaped as in Go 1.27 and later.
func (e *Encoder) AppendString(dst []byte, s string) []byte {
	if isPlain(s) {
		return appendPlain(dst, s)
	}
	out, _ := e.appendAny(dst, s) // a string can always be encoded
	return out
}

// appendAny appends v as encoding/json encodes it, in the same bytes on Go 1.26 and
// later.
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
	out = out[:len(out)-1] // the encoder ends each value with a newline
	if text := out[len(dst):]; bytes.Contains(text, escapedReplacement) {
		out = append(out[:len(dst)], replacement.Replace(string(text))...)
	}
	return out, nil
}

var (
	escapedReplacement = []byte(`\ufffd`)

	// replacement writes U+FFFD as itself. Before Go 1.27 encoding/json writes an escape
	// for invalid UTF-8.
	replacement = strings.NewReplacer(`\\`, `\\`, `\ufffd`, string(utf8.RuneError))
)

// writer is a json.Encoder that appends to a buffer which it does not own. encoding/json
// writes a value at once and only when all of it could be encoded, so a failure leaves
// the buffer alone.
type writer struct {
	json *json.Encoder
	out  []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}
