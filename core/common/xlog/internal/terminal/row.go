package terminal

import (
	"strconv"
	"strings"
	"unicode"
)

// Colors, as parameters of the escape sequence SGR (ECMA-48).
const (
	plain = ""
	dim   = "90"
	bold  = "1"
	red   = "31"
	cyan  = "36"
)

type row struct {
	text  []byte
	width int // in columns
	color bool
}

func (r *row) put(color, text string) {
	r.width += columns(text)
	if r.color && color != plain {
		text = "\x1b[" + color + "m" + text + "\x1b[0m"
	}
	r.text = append(r.text, text...)
}

// cell appends colored text, padded to at least width columns. A space separates it from
// the previous text.
func (r *row) cell(color, text string, width int) {
	if r.width > 0 {
		r.put(plain, " ")
	}
	r.put(color, text)
	r.put(plain, strings.Repeat(" ", max(width-columns(text), 0)))
}

// columns returns the width of s on a terminal. East Asian characters, from Hangul Jamo
// on, and emoji occupy two columns.
func columns(s string) int {
	n := 0
	for _, r := range s {
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		n++
		if r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana,
			unicode.Katakana) ||
			r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 {
			n++
		}
	}
	return n
}

// quoteUnprintable returns s unchanged if all its characters are printable. Otherwise it
// quotes s and escapes the others, including control characters.
func quoteUnprintable(s string) string {
	if strings.IndexFunc(s, isUnprintable) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// quoteWord is like quoteUnprintable, but also quotes the empty string and text with a
// space, a quote or an equals sign.
func quoteWord(s string) string {
	if s == "" || strings.ContainsAny(s, ` "=`) {
		return strconv.Quote(s)
	}
	return quoteUnprintable(s)
}

// isUnprintable reports whether r is not printable or is the replacement character.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
