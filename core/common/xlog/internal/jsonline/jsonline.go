// Package jsonline defines the keys of a JSON log line and decodes its members.
package jsonline

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Keys that every line may contain.
const (
	KeyTime      = "time"
	KeyLevel     = "level"
	KeyName      = "name"
	KeyMsg       = "msg"
	KeyRequestID = "request_id"
)

// Head lists the first keys of a line in order.
var Head = []string{KeyTime, KeyLevel, KeyName, KeyMsg, KeyRequestID}

// Members iterates over the members of a JSON object. It stops at the first syntax error.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		tokens := json.NewDecoder(bytes.NewReader(object))
		_, _ = tokens.Token() // the opening brace; if it is missing, there are no members
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

// Unquote returns the decoded JSON string, "" for null, and other JSON unchanged.
func Unquote(value []byte) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

// Cut truncates s to at most n bytes and does not split a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
