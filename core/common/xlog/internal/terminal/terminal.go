// Package terminal shows lines of the log to people.
package terminal

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// Terminal turns a line of JSON into one for people:
//
//	15:04:05.123 INFO   [SERV]  user registered                  user=42 took=1.25ms #1f6d2c9a
//	15:04:05.456 INFO   [HTTP]  POST /notes 201 3.1ms #1f6d2c9a
type Terminal struct {
	color bool
}

// New returns a Terminal, with colours or without.
func New(color bool) *Terminal { return &Terminal{color: color} }

// Widths in characters that keep the columns aligned.
const (
	levelWidth   = 6
	nameWidth    = 7
	messageWidth = 32
	shortID      = 8
	idWidth      = len(" #") + shortID
	lineWidth    = 80 // of a request
)

const clockForm = "15:04:05.000"

// Colours, as parameters of the escape sequence "select graphic rendition" (ECMA-48).
const (
	plainColor = ""
	dim        = "90"
	bold       = "1"
	red        = "31"
	cyan       = "36"
)

var levelColors = map[string]string{
	"debug": "35", "info": "32", "notice": "34", "warn": "33", "error": red, "panic": "1;31",
}

// stackKey is the attribute whose lines are shown below the line itself, each behind a bar that no
// line begins with.
const (
	stackKey = "stack"
	stackBar = "    │ "
)

// AppendLine appends the form for people of a line of JSON.
func (t *Terminal) AppendLine(dst, line []byte) []byte {
	var parts [5]string
	var attrs []field
	next := 0
	for key, value := range jsonline.Members(line) {
		if i := slices.Index(jsonline.Head[next:], key); i >= 0 && len(attrs) == 0 {
			next += i
			parts[next] = jsonline.Unquote(value)
			next++
			continue
		}
		attrs = flatten(attrs, key, value)
	}
	id := parts[4]
	dst, width := t.appendHead(dst, parts)
	dst, ok := t.appendSummary(dst, parts[3], attrs, lineWidth-width-idWidth)
	if ok {
		attrs = nil
	} else {
		dst = t.appendMessage(dst, parts, len(attrs) > 0 || id != "")
	}
	stack := ""
	for _, a := range attrs {
		if a.key == stackKey && strings.Contains(a.text(), "\n") {
			stack = a.text()
			continue
		}
		dst = t.appendField(dst, a)
	}
	if id != "" {
		dst = t.paint(append(dst, ' '), dim, "#"+word(jsonline.Cut(id, shortID)))
	}
	return appendStack(append(dst, '\n'), stack)
}

// appendHead appends what precedes the message, and returns its width.
func (t *Terminal) appendHead(dst []byte, parts [5]string) ([]byte, int) {
	width := max(len(parts[1]), levelWidth)
	if at, err := time.Parse(time.RFC3339, parts[0]); err == nil {
		dst = append(t.paint(dst, dim, at.Local().Format(clockForm)), ' ')
		width += len(clockForm) + 1
	}
	level := parts[1]
	dst = pad(t.paint(dst, levelColors[kindOf(level)], strings.ToUpper(level)), len(level), levelWidth)
	if parts[2] != "" {
		name := "[" + phrase(parts[2]) + "]"
		dst = pad(t.paint(append(dst, ' '), cyan, name), columns(name), nameWidth)
		width += 1 + max(columns(name), nameWidth)
	}
	return append(dst, ' '), width + 1
}

// kindOf returns the name of a level without its offset.
func kindOf(level string) string {
	kind, _, _ := strings.Cut(level, "+")
	return kind
}

// appendMessage appends the message; padded reports whether anything follows.
func (t *Terminal) appendMessage(dst []byte, parts [5]string, padded bool) []byte {
	msg, color := phrase(parts[3]), plainColor
	if kind := kindOf(parts[1]); kind == "error" || kind == "panic" {
		color = bold
	}
	dst = t.paint(dst, color, msg)
	if padded {
		dst = pad(dst, columns(msg), messageWidth)
	}
	return dst
}

func (t *Terminal) appendField(dst []byte, a field) []byte {
	dst = t.paint(append(dst, ' '), dim, word(a.key)+"=")
	color := plainColor
	if a.key == "error" || a.key == "err" || strings.HasSuffix(a.key, ".error") {
		color = red
	}
	return t.paint(dst, color, a.shown())
}

// appendStack appends the lines of a stack trace.
func appendStack(dst []byte, stack string) []byte {
	if stack == "" {
		return dst
	}
	for l := range strings.SplitSeq(strings.TrimRight(stack, "\n"), "\n") {
		l = strings.ReplaceAll(l, "\t", "    ")
		dst = append(append(append(dst, stackBar...), phrase(l)...), '\n')
	}
	return dst
}

// paint appends text in a colour.
func (t *Terminal) paint(dst []byte, color, text string) []byte {
	if !t.color || color == "" {
		return append(dst, text...)
	}
	dst = append(append(append(dst, "\x1b["...), color...), 'm')
	return append(append(dst, text...), "\x1b[0m"...)
}

// pad appends spaces after a text of so many columns.
func pad(dst []byte, have, want int) []byte {
	return append(dst, strings.Repeat(" ", max(want-have, 0))...)
}

// columns is the width of s at a terminal: characters of East Asian scripts, which begin with Hangul
// Jamo, and emoji take two.
func columns(s string) int {
	n := 0
	for _, r := range s {
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		n++
		if r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
			r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 {
			n++
		}
	}
	return n
}

// phrase returns s as it is where all of it can be seen, else quoted, with its control characters and
// everything else that acts on a terminal escaped.
func phrase(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// word is phrase for what stands between spaces.
func word(s string) string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return hidden(r) || r == ' ' || r == '"' || r == '=' }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

// hidden reports whether a character cannot be seen as itself.
func hidden(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
