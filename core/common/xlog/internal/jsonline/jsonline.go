// Package jsonline is the form of a line of the log: its own keys, and how they are found in its JSON.
package jsonline

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// The keys that a line has itself.
const (
	KeyTime      = "time"
	KeyLevel     = "level"
	KeyName      = "name"
	KeyMsg       = "msg"
	KeyRequestID = "request_id"
)

// Head are the keys that begin a line, in their order.
var Head = []string{KeyTime, KeyLevel, KeyName, KeyMsg, KeyRequestID}

// Members iterates over the members of a compact JSON object.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 1; i < len(object) && object[i] == '"'; {
			colon := SkipString(object, i)
			if colon >= len(object) {
				return
			}
			end := SkipValue(object, colon+1)
			if !yield(Unquote(object[i:colon]), object[colon+1:end]) {
				return
			}
			i = end + 1 // a comma, or the end
		}
	}
}

// Unquote returns the text of a JSON string, and the JSON of everything else.
func Unquote(value []byte) string {
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

// SkipString returns the index after the string that begins at text[i].
func SkipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// SkipValue returns the index after the value that begins at text[i].
func SkipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = SkipString(text, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the end of what holds a number, a boolean or null
			}
			if depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// Cut returns at most n bytes of s, and no part of a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
