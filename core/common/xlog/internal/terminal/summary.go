package terminal

import "strings"

// Widths of a line of Access or Call.
const (
	lineWidth  = 80 - len(" #") - shortID // before the id
	minPath    = 12                       // what is worth showing of a path
	minFailure = 22                       // of an error
)

// summary appends a line of Access or Call in at most lineWidth columns, if its shortest
// form fits. It reports whether the line is one.
func (r *row) summary(msg string, attrs []field) bool {
	if msg != "request" && msg != "call" {
		return false
	}
	found := map[string]field{}
	for _, a := range attrs {
		found[a.key] = a
	}
	path, status, took := found["method"].shown(), found["status"].shown(),
		found["duration_ms"].shown()
	if path == "" || status == "" || took == "" {
		return false
	}
	if own := found["path"].shown(); own != "" {
		r.cell(plain, path, 0)
		path = own
	}
	room := lineWidth - r.width - columns("  "+status+" "+took)
	r.cell(plain, cutColumns(path, max(room, minPath)), 0)
	color := bold
	if strings.HasPrefix(status, "5") {
		color = red
	}
	r.cell(color, status, 0)
	r.cell(plain, took, 0)
	r.failure(found["error_code"].shown(), found["error_message"].text())
	return true
}

// failure appends the code of an error and as much of its message as fits.
func (r *row) failure(code, message string) {
	room := lineWidth - r.width - len(" ")
	if code == "" || room < len(code) {
		return
	}
	text := strings.TrimSuffix(code+" "+phrase(message), " ")
	if room < min(columns(text), minFailure) {
		text = code
	}
	r.cell(dim, cutColumns(text, room), 0)
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
