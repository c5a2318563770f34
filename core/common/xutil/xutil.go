// Package xutil provides small helpers for services: passwords, keys, random strings,
// UUIDs, parsing, times, strings and format checks.
//
// Related helpers are methods of a group, as in xutil.Password().Verify(...). A group is
// an empty struct. All functions and methods are safe for concurrent use.
package xutil

import (
	"slices"
	"strings"
)

// Ptr returns a pointer to a copy of v.
//
//go:fix inline
func Ptr[T any](v T) *T { return new(v) }

// Val returns *p, or the zero value if p is nil.
func Val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Contains reports whether v is in list.
func Contains[T comparable](list []T, v T) bool { return slices.Contains(list, v) }

// ToBool parses true, t, yes, y, on and 1, or false, f, no, n, off and 0, in any case and
// with surrounding white space. For any other text it returns def, or false if def is
// omitted. Parse().Bool returns an error instead.
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
