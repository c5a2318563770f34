package xlog

import (
	"bytes"
	"encoding/json"
	"iter"
)

// field is an attribute as it stands in a line; groups are joined with dots in its key.
type field struct {
	key   string
	value []byte // JSON
}

// text returns the value's text.
func (f field) text() string { return unquote(f.value) }

// shown returns how a terminal shows the value: a string as a word, everything else as JSON.
func (f field) shown() string {
	if len(f.value) > 0 && f.value[0] == '"' {
		return word(unquote(f.value))
	}
	return string(f.value)
}

// flatten appends a field, or those of an object.
func flatten(list []field, key string, value []byte) []field {
	if len(value) <= len("{}") || value[0] != '{' {
		return append(list, field{key, value})
	}
	for k, v := range fields(value) {
		list = flatten(list, key+"."+k, v)
	}
	return list
}

// fields iterates over the members of a compact JSON object.
func fields(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 1; i < len(object) && object[i] == '"'; {
			colon := skipString(object, i)
			if colon >= len(object) {
				return
			}
			end := skipValue(object, colon+1)
			if !yield(unquote(object[i:colon]), object[colon+1:end]) {
				return
			}
			i = end + 1 // a comma, or the end
		}
	}
}

// unquote returns the text of a JSON string, and the JSON of everything else.
func unquote(value []byte) string {
	if len(value) < len(`""`) || value[0] != '"' {
		return string(value)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	_ = json.Unmarshal(value, &s) // the line's own encoding
	return s
}
