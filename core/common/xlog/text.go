package xlog

import (
	"fmt"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// appendText appends s as a JSON string, escaped as zerolog does. The sink escapes
// characters outside ASCII, because it checks every line.
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
	shortEscapes  = "\"\\\b\f\n\r\t" // the characters with a two-character escape in JSON
	escapeLetters = "\"\\bfnrt"      // the letters of these escapes, in the same order
)

func appendEscaped(dst []byte, s string) []byte {
	copied := 0 // bytes of s that are copied to dst
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		dst = append(dst, s[copied:i]...)
		copied = i + 1
		if short := strings.IndexByte(shortEscapes, c); short >= 0 {
			dst = append(dst, '\\', escapeLetters[short])
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		}
	}
	return append(dst, s[copied:]...)
}
