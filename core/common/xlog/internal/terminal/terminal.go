// Package terminal shows lines of the log to people.
package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// Widths in characters that keep the columns aligned.
const (
	levelWidth   = 6
	nameWidth    = 7
	messageWidth = 32
	shortID      = 8
)

const clockForm = "15:04:05.000"

var levelColors = map[string]string{
	"debug": "35", "info": "32", "notice": "34", "warn": "33", "error": red, "panic": "1;31",
}

// stackKey is the attribute whose lines are shown below the line itself, each behind a
// bar that no line begins with.
const (
	stackKey = "stack"
	stackBar = "    │ "
)

// AppendLine appends the form for people of a line of JSON, with colours or without:
//
//	15:04:05.123 INFO   [SERV]  user registered                  user=42 took=1.25ms #1f6d2c9a
//	15:04:05.456 INFO   [HTTP]  POST /notes 201 3.1ms #1f6d2c9a
func AppendLine(dst, line []byte, color bool) []byte {
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
		attrs = flatten(attrs, key, value, 0)
	}
	clock, level, name, msg, id := parts[0], parts[1], parts[2], parts[3], parts[4]
	kind, _, _ := strings.Cut(level, "+")
	r := row{text: dst, color: color}
	if at, err := time.Parse(time.RFC3339, clock); err == nil {
		r.cell(dim, at.Local().Format(clockForm), 0)
	}
	r.cell(levelColors[kind], strings.ToUpper(level), levelWidth)
	if name != "" {
		r.cell(cyan, "["+phrase(name)+"]", nameWidth)
	}
	stack := ""
	if !r.summary(msg, attrs) {
		r.message(kind, msg, len(attrs) > 0 || id != "")
		stack = r.fields(attrs)
	}
	if id != "" {
		r.cell(dim, "#"+word(jsonline.Cut(id, shortID)), 0)
	}
	return appendStack(append(r.text, '\n'), stack)
}

// message appends the message; more reports whether anything follows.
func (r *row) message(kind, msg string, more bool) {
	color, width := plain, 0
	if kind == "error" || kind == "panic" {
		color = bold
	}
	if more {
		width = messageWidth
	}
	r.cell(color, phrase(msg), width)
}

// fields appends the attributes. It returns the stack trace, which follows the line.
func (r *row) fields(attrs []field) (stack string) {
	for _, a := range attrs {
		if a.key == stackKey && strings.Contains(a.text(), "\n") {
			stack = a.text()
			continue
		}
		r.cell(dim, word(a.key)+"=", 0)
		color := plain
		if last := a.lastKey(); last == "error" || last == "err" {
			color = red
		}
		r.put(color, a.shown())
	}
	return stack
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
