// Package terminal formats log lines for a terminal.
package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// Column widths in characters.
const (
	levelWidth   = 6
	nameWidth    = 7
	messageWidth = 32
	shortID      = 8
)

const clockLayout = "15:04:05.000"

var levelColors = map[string]string{
	"debug": "35", "info": "32", "notice": "34", "warn": "33", "error": red, "panic": "1;31",
}

// stackKey is the attribute that is shown below the line. Each of its lines starts with
// stackBar, which no log line starts with.
const (
	stackKey = "stack"
	stackBar = "    │ "
)

// AppendLine appends the human-readable format of a JSON line, with or without colors:
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
		r.cell(dim, at.Local().Format(clockLayout), 0)
	}
	r.cell(levelColors[kind], strings.ToUpper(level), levelWidth)
	if name != "" {
		r.cell(cyan, "["+quoteUnprintable(name)+"]", nameWidth)
	}
	stack := ""
	if !r.summary(msg, attrs) {
		r.message(kind, msg, len(attrs) > 0 || id != "")
		stack = r.fields(attrs)
	}
	if id != "" {
		r.cell(dim, "#"+quoteWord(jsonline.Cut(id, shortID)), 0)
	}
	return appendStack(append(r.text, '\n'), stack)
}

// message appends the message. more reports whether other columns follow.
func (r *row) message(kind, msg string, more bool) {
	color, width := plain, 0
	if kind == "error" || kind == "panic" {
		color = bold
	}
	if more {
		width = messageWidth
	}
	r.cell(color, quoteUnprintable(msg), width)
}

// fields appends the attributes and returns the stack trace, which is shown below the
// line.
func (r *row) fields(attrs []field) (stack string) {
	for _, a := range attrs {
		if a.key == stackKey && strings.Contains(a.text(), "\n") {
			stack = a.text()
			continue
		}
		r.cell(dim, quoteWord(a.key)+"=", 0)
		color := plain
		if last := a.lastKey(); last == "error" || last == "err" {
			color = red
		}
		r.put(color, a.format())
	}
	return stack
}

func appendStack(dst []byte, stack string) []byte {
	if stack == "" {
		return dst
	}
	for l := range strings.SplitSeq(strings.TrimRight(stack, "\n"), "\n") {
		l = strings.ReplaceAll(l, "\t", "    ")
		dst = append(append(append(dst, stackBar...), quoteUnprintable(l)...), '\n')
	}
	return dst
}
