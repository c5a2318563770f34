package xlog

import (
	"encoding/binary"
	"strings"
)

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string, escaped as zerolog does. Bytes beyond ASCII stay for the
// sink, which looks at them in every line.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := len(dst)
	dst = append(dst, s...)
	if !isPlain(dst[start:]) {
		dst = appendEscaped(dst[:start], s)
	}
	return append(dst, '"')
}

// isPlain reports whether p holds only ASCII that stands for itself in a JSON string.
func isPlain(p []byte) bool {
	if len(p) < 8 {
		for _, c := range p {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	bad := marks(binary.LittleEndian.Uint64(p[len(p)-8:]))
	for ; len(p) > 8; p = p[8:] {
		bad |= marks(binary.LittleEndian.Uint64(p))
	}
	return bad&(0x80*ones) == 0
}

const ones = 0x0101010101010101

// marks looks at eight characters at once: a high bit says that one of them, not necessarily that
// one, does not stand for itself. To subtract n borrows into the high bit of what is below n, and
// x^c is 0 for c.
func marks(x uint64) uint64 {
	return x | (x - ' '*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones) | ((x ^ 0x7f*ones) - ones)
}

// shortEscapes are the control characters that JSON writes with a letter.
const shortEscapes = "\b\f\n\r\t"

// appendEscaped appends s with its escapes.
func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case strings.IndexByte(shortEscapes, c) >= 0:
			dst = append(dst, '\\', "bfnrt"[strings.IndexByte(shortEscapes, c)])
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
