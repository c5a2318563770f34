package terminal

import "strings"

// Widths of a line of Access or Call.
const (
	lineWidth  = 80 - len(" #") - shortID // before the request ID
	minPath    = 12                       // minimum for the path
	minFailure = 22                       // minimum for an error
)

// summary appends a line of Access or Call, in at most lineWidth columns if its shortest
// form fits. It reports whether the line is such a line.
func (r *row) summary(msg string, attrs []field) bool {
	if msg != "request" && msg != "call" {
		return false
	}
	found := map[string]field{}
	for _, a := range attrs {
		found[a.key] = a
	}
	path := found["method"].format() // for a call, the method is the path
	status, elapsed := found["status"].format(), found["duration_ms"].format()
	if path == "" || status == "" || elapsed == "" {
		return false
	}
	if urlPath := found["path"].format(); urlPath != "" {
		r.cell(plain, path, 0)
		path = urlPath
	}
	room := lineWidth - r.width - columns("  "+status+" "+elapsed)
	r.cell(plain, cutColumns(path, max(room, minPath)), 0)
	color := bold
	if strings.HasPrefix(status, "5") {
		color = red
	}
	r.cell(color, status, 0)
	r.cell(plain, elapsed, 0)
	r.failure(found["error_code"].format(), found["error_message"].text())
	return true
}

// failure appends the error code and as much of the message as fits.
func (r *row) failure(code, message string) {
	room := lineWidth - r.width - len(" ")
	if code == "" || room < len(code) {
		return
	}
	text := strings.TrimSuffix(code+" "+quoteUnprintable(message), " ")
	if room < min(columns(text), minFailure) {
		text = code
	}
	r.cell(dim, cutColumns(text, room), 0)
}

// cutColumns truncates s to n columns, with an ellipsis.
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
