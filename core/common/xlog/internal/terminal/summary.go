package terminal

import "strings"

// summary is the line of a request or a gRPC call as a terminal shows it.
type summary struct {
	method  string // of a request
	path    string
	status  string
	took    string
	code    string // of the error
	failure string // its message
}

// Widths that are worth showing of what is cut.
const (
	minPath    = 12
	minFailure = 16
)

// summarize returns the summary of a line of Access or Call.
func summarize(msg string, attrs []field) (s summary, ok bool) {
	if msg != "request" && msg != "call" {
		return s, false
	}
	found := map[string]field{}
	for _, a := range attrs {
		found[a.key] = a
	}
	for _, key := range []string{"method", "status", "duration_ms"} {
		if _, ok := found[key]; !ok {
			return s, false
		}
	}
	s.path, s.status, s.took = word(found["method"].text()), found["status"].shown(), found["duration_ms"].duration()
	if path, ok := found["path"]; ok {
		s.method, s.path = s.path, word(path.text())
	}
	if code, ok := found["error_code"]; ok {
		s.code, s.failure = code.shown(), phrase(found["error_message"].text())
	}
	return s, true
}

// appendSummary appends s in at most room columns, if its shortest form fits.
func (t *Terminal) appendSummary(dst []byte, s summary, room int) []byte {
	if s.method != "" {
		dst = append(append(dst, s.method...), ' ')
		room -= columns(s.method) + 1
	}
	room -= len(" ") + columns(s.status) + len(" ") + len(s.took)
	path := cutColumns(s.path, max(room, minPath))
	dst = append(append(dst, path...), ' ')
	color := bold
	if strings.HasPrefix(s.status, "5") {
		color = red
	}
	dst = append(t.paint(dst, color, s.status), ' ')
	dst = append(dst, s.took...)
	room -= columns(path) + len(" ") + len(s.code)
	if s.code == "" || room < 0 {
		return dst
	}
	failure := s.code
	if room -= len(" "); s.failure != "" && room >= min(columns(s.failure), minFailure) {
		failure += " " + cutColumns(s.failure, room)
	}
	return t.paint(append(dst, ' '), dim, failure)
}

// cutColumns returns s, or what fits n columns of it with an ellipsis.
func cutColumns(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	width := 1
	for i, r := range s {
		if width += columns(string(r)); width > n {
			return s[:i] + "…"
		}
	}
	return s
}
