package jsonenc

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// appendPlain appends s, which is plain, as a JSON string.
func appendPlain(dst []byte, s string) []byte { return append(append(append(dst, '"'), s...), '"') }

// isPlain reports whether s stands for itself in a JSON string.
func isPlain(s string) bool { return IsSafe(s) || !strings.ContainsFunc(s, isEscaped) }

// IsSafe reports whether s is printable ASCII without the characters "&<>\^|~, as nearly
// all strings are: it needs no escape in JSON or HTML. It reads eight characters at once
// (BenchmarkEnvelope).
func IsSafe(s string) bool {
	p := []byte(s) // only read, so not copied
	bad := marks(lastEight(p))
	for ; len(p) > 8; p = p[8:] {
		bad |= marks(binary.LittleEndian.Uint64(p))
	}
	return bad&(0x80*ones) == 0
}

// lastEight returns the last eight bytes of p. A shorter p is completed by some of its
// bytes or by dots.
func lastEight(p []byte) uint64 {
	n := len(p)
	if n >= 8 {
		return binary.LittleEndian.Uint64(p[n-8:])
	}
	if n >= 4 {
		return uint64(binary.LittleEndian.Uint32(p))<<32 | uint64(
			binary.LittleEndian.Uint32(p[n-4:]))
	}
	x := uint64('.' * ones)
	for _, c := range p {
		x = x<<8 | uint64(c)
	}
	return x
}

const ones = 0x0101010101010101

// marks looks at eight characters at once: a high bit says that one of them, not
// necessarily that one, is not safe. To subtract n borrows into the high bit of what is
// below n, and x^c is 0 for c. The quote differs from the ampersand in one bit, and <, >
// and the backslash from ^, | and ~ in two.
func marks(x uint64) uint64 {
	return x | (x - ' '*ones) | ((x ^ 0x7f*ones) - ones) |
		(((x | 0x04*ones) ^ '&'*ones) - ones) | (((x | 0x62*ones) ^ '~'*ones) - ones)
}

// isEscaped reports whether a character has an escape in a JSON string, or may stand for
// an invalid byte.
func isEscaped(c rune) bool {
	return c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
		c == '\u2028' || c == '\u2029' || c == utf8.RuneError
}
