package jsonenc

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// appendPlain appends s as a JSON string. s must be plain.
func appendPlain(dst []byte, s string) []byte { return append(append(append(dst, '"'), s...), '"') }

// isPlain reports whether s needs no escaping in a JSON string.
func isPlain(s string) bool { return IsSafe(s) || !strings.ContainsFunc(s, isEscaped) }

// IsSafe reports whether s consists of printable ASCII characters other than "&<>\^|~.
// Such a string needs no escaping in JSON or HTML. IsSafe reads eight bytes at once (see
// BenchmarkEnvelope).
func IsSafe(s string) bool {
	p := []byte(s) // read-only, so the compiler does not copy
	bad := marks(lastEight(p))
	for ; len(p) > 8; p = p[8:] {
		bad |= marks(binary.LittleEndian.Uint64(p))
	}
	return bad&(0x80*ones) == 0
}

// lastEight returns the last eight bytes of p. It pads a shorter p with repeated bytes or
// dots.
func lastEight(p []byte) uint64 {
	n := len(p)
	if n >= 8 {
		return binary.LittleEndian.Uint64(p[n-8:])
	}
	if n >= 4 {
		return uint64(binary.LittleEndian.Uint32(p))<<32 |
			uint64(binary.LittleEndian.Uint32(p[n-4:]))
	}
	x := uint64('.' * ones)
	for _, c := range p {
		x = x<<8 | uint64(c)
	}
	return x
}

const ones = 0x0101010101010101

// marks checks eight bytes at once. A set high bit means that one of the bytes is not
// safe, but not which byte.
//
// Subtracting n borrows from the high bit of each byte below n, and x^c is 0 for a byte
// equal to c. The quote differs from the ampersand in one bit. The characters <, > and \
// differ from ^, | and ~ in two bits.
func marks(x uint64) uint64 {
	return x | (x - ' '*ones) | ((x ^ 0x7f*ones) - ones) |
		(((x | 0x04*ones) ^ '&'*ones) - ones) | (((x | 0x62*ones) ^ '~'*ones) - ones)
}

// isEscaped reports whether a JSON string escapes c, or whether c may represent an
// invalid byte.
func isEscaped(c rune) bool {
	return c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
		c == '\u2028' || c == '\u2029' || c == utf8.RuneError
}
