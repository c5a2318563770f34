package xlog

import (
	"fmt"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// appendText appends s as a JSON string, escaped as zerolog does. Bytes beyond ASCII stay
// for the sink, which looks at them in every line.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if jsonenc.IsSafe(s) {
		dst = append(dst, s...)
	} else {
		dst = appendEscaped(dst, s)
	}
	return append(dst, '"')
}

const (
	shortEscapes  = "\"\\\b\f\n\r\t" // the characters that JSON escapes with one letter
	escapeLetters = "\"\\bfnrt"      // these letters
)

// appendEscaped appends s with its escapes.
func appendEscaped(dst []byte, s string) []byte {
	kept := 0 // how much of s is in dst
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		dst = append(dst, s[kept:i]...)
		kept = i + 1
		if short := strings.IndexByte(shortEscapes, c); short >= 0 {
			dst = append(dst, '\\', escapeLetters[short])
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		}
	}
	return append(dst, s[kept:]...)
}
