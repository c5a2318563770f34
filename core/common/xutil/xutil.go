// Package xutil holds the small helpers that services keep writing: passwords, keys,
// random text, UUIDs, parsing, time, text and format checks.
//
// Related helpers share a function that returns their group, as in
// xutil.Password().Verify(...). Groups are empty values: getting one costs nothing, and
// all of them may be used concurrently.
package xutil

import (
	"slices"
	"strings"
)

// Ptr returns a pointer to a copy of v.
//
//go:fix inline
func Ptr[T any](v T) *T { return new(v) }

// Val returns what p points to, or the zero value where p is nil.
func Val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Contains reports whether v is in list.
func Contains[T comparable](list []T, v T) bool { return slices.Contains(list, v) }

// ToBool reads true, t, yes, y, on and 1, or false, f, no, n, off and 0, in any case and
// with blanks around. Any other text is def, or false where there is no def. See
// Parse().Bool for one that returns an error.
func ToBool(text string, def ...bool) bool {
	if b, ok := toBool(text); ok {
		return b
	}
	return len(def) > 0 && def[0]
}

func toBool(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "yes", "y", "on", "1":
		return true, true
	case "false", "f", "no", "n", "off", "0":
		return false, true
	default:
		return false, false
	}
}
