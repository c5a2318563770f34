package xenv

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a string that no log line, error text or JSON document shows: fmt, log/slog,
// encoding/json and zerolog all see "***", or nothing where the secret is empty. Reading
// one from JSON or from a database works as for a string.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns the mask.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns the mask; fmt uses it for %#v.
func (s Secret) GoString() string { return `xenv.Secret("` + s.String() + `")` }

// Format writes the mask whatever the verb, so that %x shows no secret either.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	if verb == 'q' {
		text = `"` + text + `"`
	}
	_, _ = io.WriteString(f, text) // as fmt itself: the state keeps the writer's error
}

// MarshalText returns the mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
