// Package jsonline is the form of a line of the log: its own keys, and how they are found
// in its JSON.
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

// Members iterates over the members of a JSON object. It ends at what is none.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		tokens := json.NewDecoder(bytes.NewReader(object))
		_, _ = tokens.Token() // the brace; without it nothing follows
		for tokens.More() {
			token, err := tokens.Token()
			key, isText := token.(string)
			var value json.RawMessage
			if err != nil || !isText || tokens.Decode(&value) != nil || !yield(key, value) {
				return
			}
		}
	}
}

// Unquote returns the text of a JSON string, nothing for null, and the JSON of everything
// else.
func Unquote(value []byte) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
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
