package xenv

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a string that log lines, errors and JSON documents do not reveal. The
// packages fmt, log/slog, encoding/json and zerolog write "***", or nothing if the secret
// is empty. A Secret is unmarshaled and scanned like a string.
type Secret string

// Reveal returns the secret as a string.
func (s Secret) Reveal() string { return string(s) }

// String returns the mask, or "" if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns the mask for the verb %#v.
func (s Secret) GoString() string { return `xenv.Secret("` + s.String() + `")` }

// Format writes the mask for every verb, including %x.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	if verb == 'q' {
		text = `"` + text + `"`
	}
	_, _ = io.WriteString(f, text) // fmt.State stores the error of the writer
}

// MarshalText returns the mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
