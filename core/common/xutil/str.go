package xutil

import "strings"

// Strings provides string helpers. See Str.
type Strings struct{}

// Str returns the Strings group. Its methods count characters (runes) and never split
// one.
func Str() Strings { return Strings{} }

// IsBlank reports whether s is empty or consists of white space.
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

// Mask replaces all characters except the first start and the last end characters with
// asterisks. If s has at most start+end characters, Mask replaces all of them.
func (Strings) Mask(s string, start, end int) string {
	chars := []rune(s)
	start, end = max(start, 0), max(end, 0)
	if start > len(chars) || end >= len(chars)-start {
		return strings.Repeat("*", len(chars))
	}
	tail := len(chars) - end
	return string(chars[:start]) + strings.Repeat("*", tail-start) + string(chars[tail:])
}
