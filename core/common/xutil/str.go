package xutil

import "strings"

// Strings works on texts; get it with Str.
type Strings struct{}

// Str returns the group that works on texts. It counts in characters (runes) and cuts
// none in half.
func Str() Strings { return Strings{} }

// IsBlank reports whether a text is empty or all white space.
func (Strings) IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Truncate returns the first n characters.
func (Strings) Truncate(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Mask replaces every character but the first start and the last end with an asterisk. A
// text with no more than start+end characters is masked whole.
func (Strings) Mask(s string, start, end int) string {
	chars := []rune(s)
	start, end = max(start, 0), max(end, 0)
	if start > len(chars) || end >= len(chars)-start {
		return strings.Repeat("*", len(chars))
	}
	tail := len(chars) - end
	return string(chars[:start]) + strings.Repeat("*", tail-start) + string(chars[tail:])
}
