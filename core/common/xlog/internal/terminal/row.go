package terminal

import (
	"strconv"
	"strings"
	"unicode"
)

// Colours, as parameters of the escape sequence "select graphic rendition" (ECMA-48).
const (
	plain = ""
	dim   = "90"
	bold  = "1"
	red   = "31"
	cyan  = "36"
)

// row is a line under construction.
type row struct {
	text  []byte
	width int // in columns
	color bool
}

// put appends a text in a colour.
func (r *row) put(color, text string) {
	r.width += columns(text)
	if r.color && color != plain {
		text = "\x1b[" + color + "m" + text + "\x1b[0m"
	}
	r.text = append(r.text, text...)
}

// cell appends a text in a colour, and spaces that make it at least width columns wide. A
// space separates it from the text before.
func (r *row) cell(color, text string, width int) {
	if r.width > 0 {
		r.put(plain, " ")
	}
	r.put(color, text)
	r.put(plain, strings.Repeat(" ", max(width-columns(text), 0)))
}

// columns is the width of s at a terminal: characters of East Asian scripts, which begin
// with Hangul Jamo, and emoji take two.
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

// phrase returns s as it is where all of it can be seen, else quoted, with its control
// characters and everything else that acts on a terminal escaped.
func phrase(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// word is phrase for the text between spaces.
func word(s string) string {
	if s == "" || strings.ContainsAny(s, ` "=`) {
		return strconv.Quote(s)
	}
	return phrase(s)
}

// hidden reports whether a character cannot be seen as itself.
func hidden(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
