// Package xutil holds the small helpers that services keep writing: passwords, keys, random text, UUIDs
// and masks.
//
// Related helpers share a function that returns their group, as in xutil.Password().Verify(...). Groups
// are empty values: getting one costs nothing, and all of them may be used concurrently.
package xutil

import "strings"

// Val returns what p points to, or the zero value where p is nil.
func Val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// ToBool reads true, t, yes, y, on and 1, or false, f, no, n, off and 0, in any case and with blanks
// around. Any other text is def, or false where there is no def.
func ToBool(text string, def ...bool) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "yes", "y", "on", "1":
		return true
	case "false", "f", "no", "n", "off", "0":
		return false
	default:
		return len(def) > 0 && def[0]
	}
}
