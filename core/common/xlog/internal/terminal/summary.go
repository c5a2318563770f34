package terminal

import "strings"

// Widths that are worth showing of what is cut.
const (
	minPath    = 12
	minFailure = 16
)

// appendSummary appends a line of Access or Call in at most room columns, if its shortest form fits. It reports whether
// the line is one.
func (t *Terminal) appendSummary(dst []byte, msg string, attrs []field, room int) ([]byte, bool) {
	if msg != "request" && msg != "call" {
		return dst, false
	}
	found := map[string]field{}
	for _, a := range attrs {
		found[a.key] = a
	}
	path, status, took := found["method"].shown(), found["status"].shown(), found["duration_ms"].shown()
	if path == "" || status == "" || took == "" {
		return dst, false
	}
	if own := found["path"].shown(); own != "" {
		dst = append(append(dst, path...), ' ')
		room -= columns(path) + 1
		path = own
	}
	room -= len(" ") + columns(status) + len(" ") + len(took)
	path = cutColumns(path, max(room, minPath))
	dst = append(append(dst, path...), ' ')
	color := bold
	if strings.HasPrefix(status, "5") {
		color = red
	}
	dst = append(append(t.paint(dst, color, status), ' '), took...)
	return t.appendFailure(dst, found, room-columns(path)), true
}

// appendFailure appends the code of the error, and as much of its message as fits.
func (t *Terminal) appendFailure(dst []byte, found map[string]field, room int) []byte {
	failure := found["error_code"].shown()
	room -= len(" ") + len(failure)
	if failure == "" || room < 0 {
		return dst
	}
	message := phrase(found["error_message"].text())
	if room -= len(" "); message != "" && room >= min(columns(message), minFailure) {
		failure += " " + cutColumns(message, room)
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
