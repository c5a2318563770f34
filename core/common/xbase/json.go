package xbase

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// appendString appends s to dst as a JSON string, with the escapes of encoding/json: what HTML and
// JavaScript read as markup is escaped. An invalid byte becomes the character U+FFFD, unescaped as in Go
// 1.27 and later.
func appendString(dst []byte, s string) []byte {
	out, plain := appendPlain(dst, s)
	if !plain {
		out, _ = appendAny(dst, s) // a string can always be encoded
	}
	return out
}

// appendPlain is appendString for a text without escapes. It reports whether s is one.
func appendPlain(dst []byte, s string) (out []byte, plain bool) {
	out = append(append(dst, '"'), s...)
	plain = isPlain(out[len(dst)+1:])
	return append(out, '"'), plain
}

// isPlain reports whether p stands for itself in a JSON string. Nearly all texts are ASCII, which
// it looks at eight characters at once (BenchmarkEnvelope).
func isPlain(p []byte) bool {
	words := p
	if len(p) < 8 {
		padded := [8]byte([]byte("........"))
		copy(padded[:], p)
		words = padded[:]
	}
	bad := marks(binary.LittleEndian.Uint64(words[len(words)-8:]))
	for ; len(words) > 8; words = words[8:] {
		bad |= marks(binary.LittleEndian.Uint64(words))
	}
	if bad&(0x80*ones) == 0 {
		return true
	}
	return !slices.ContainsFunc(p, isEscaped) && utf8.Valid(p) &&
		!bytes.Contains(p, []byte("\u2028")) && !bytes.Contains(p, []byte("\u2029"))
}

const ones = 0x0101010101010101

// marks looks at eight characters at once: a high bit says that one of them, not necessarily that
// one, is escaped or not ASCII. To subtract n borrows into the high bit of what is below n, and x^c
// is 0 for c. The quote and the ampersand differ in one bit only, and so do the two angle brackets.
func marks(x uint64) uint64 {
	return x | (x - ' '*ones) | ((x ^ '\\'*ones) - ones) |
		(((x | 4*ones) ^ '&'*ones) - ones) | (((x | 2*ones) ^ '>'*ones) - ones)
}

// isEscaped reports whether an ASCII character has an escape in a JSON string.
func isEscaped(c byte) bool {
	return c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&'
}

// AppendValue appends v to dst, as JSON in the form of encoding/json. When v cannot be encoded, dst comes
// back as it was.
func AppendValue(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return append(dst, null...), nil
	}
	if out, ok := appenderOf(reflect.TypeOf(v))(dst, reflect.ValueOf(v)); ok {
		return out, nil
	}
	return appendAny(dst, v)
}

// appendAny appends v as encoding/json encodes it, in the same bytes on Go 1.26 and later.
func appendAny(dst []byte, v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.out = dst
	err := e.json.Encode(v)
	out := e.out
	e.out = nil
	encoders.Put(e)
	if err != nil {
		return dst, fmt.Errorf("xbase: encode data: %w", err)
	}
	out = out[:len(out)-1] // the encoder ends each value with a newline
	if text := out[len(dst):]; bytes.Contains(text, escapedReplacement) {
		out = append(out[:len(dst)], replacement.Replace(string(text))...)
	}
	return out, nil
}

var (
	escapedReplacement = []byte(`\ufffd`)

	// replacement writes U+FFFD as itself. Before Go 1.27 encoding/json writes an escape for invalid UTF-8.
	replacement = strings.NewReplacer(`\\`, `\\`, `\ufffd`, string(utf8.RuneError))
)

// encoder is a json.Encoder that appends to a buffer which it does not own. encoding/json writes a
// value at once and only when all of it could be encoded, so a failure leaves the buffer alone.
type encoder struct {
	json *json.Encoder
	out  []byte
}

func (e *encoder) Write(p []byte) (int, error) {
	e.out = append(e.out, p...)
	return len(p), nil
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(e)
	return e
}}
