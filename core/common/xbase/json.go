package xbase

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s to dst as a JSON string, with the escapes of encoding/json: what HTML and
// JavaScript read as markup is escaped. An invalid byte becomes the character U+FFFD, unescaped as in Go
// 1.27 and later.
func appendString(dst []byte, s string) []byte {
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
			if c >= utf8.RuneSelf || !safe[c] {
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

// marks looks at eight characters at once: a high bit says that one of them, not necessarily that one, does
// not stand for itself. To subtract n borrows into the high bit of what is below n, and x^c is 0 for c. The
// quote and the ampersand differ in one bit only, and so do the two angle brackets.
func marks(x uint64) uint64 {
	return x | (x - ' '*ones) | ((x ^ '\\'*ones) - ones) |
		(((x | 4*ones) ^ '&'*ones) - ones) | (((x | 2*ones) ^ '>'*ones) - ones)
}

// appendEscaped appends the characters of s with their escapes.
func appendEscaped(dst []byte, s string) []byte {
	from := 0
	for at := 0; at < len(s); {
		if c := s[at]; c < utf8.RuneSelf {
			if safe[c] {
				at++
				continue
			}
			dst = append(dst, s[from:at]...)
			dst = appendEscape(dst, c)
			at++
			from = at
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[from:at]...)
			dst = utf8.AppendRune(dst, utf8.RuneError)
			from = at + size
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:at]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			from = at + size
		}
		at += size
	}
	return append(dst, s[from:]...)
}

// safe says which ASCII bytes stand for themselves in a JSON string.
var safe = func() (table [utf8.RuneSelf]bool) {
	for c := range table {
		switch c {
		case '"', '\\', '<', '>', '&':
		default:
			table[c] = c >= ' '
		}
	}
	return table
}()

// appendEscape appends the escape of an ASCII byte that may not stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}

// AppendValue appends v to dst, as JSON in the form of encoding/json. When v cannot be encoded, dst comes
// back as it was.
func AppendValue(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return append(dst, null...), nil
	}
	if p := planOf(reflect.TypeOf(v)); p.form != foreign {
		if out, ok := p.append(dst, reflect.ValueOf(v)); ok {
			return out, nil
		}
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

// appendField appends key and then v to dst, or nothing when v encodes as null. The key is already
// JSON: quoted, with its comma and its colon.
func appendField(dst []byte, key string, v any) ([]byte, error) {
	if v == nil {
		return dst, nil
	}
	start := len(dst) + len(key)
	out, err := AppendValue(append(dst, key...), v)
	if err != nil || string(out[start:]) == null {
		return dst, err
	}
	return out, nil
}

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
