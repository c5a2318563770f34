// Package signature provides the secrets and signatures of the Standard Webhooks
// specification. Package webhook signs with it, and package receiver verifies.
package signature

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// The length limits of a decoded secret, in bytes.
const (
	MinSecretBytes = 24
	MaxSecretBytes = 64
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	masked       = "***"
)

// ErrSecret reports an empty or malformed secret.
var ErrSecret = errors.New("webhook/signature: invalid secret")

// Secret is the key that the sender and the receiver of a webhook share. It prints as
// "***" with fmt, log/slog and encoding/json, also as a field of another value. The zero
// value is empty; it signs and verifies nothing.
type Secret struct {
	key **[]byte // fmt cannot call methods of unexported fields and follows one pointer
}

func newKey(key []byte) Secret {
	p := &key
	return Secret{key: &p}
}

// NewSecret returns a random secret of 32 bytes.
func NewSecret() Secret {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return newKey(key)
}

// ParseSecret parses "whsec_" followed by the base64 encoding of 24 to 64 bytes. The
// error is an ErrSecret and does not contain the input.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, fmt.Errorf("%w: it does not start with %s", ErrSecret, secretPrefix)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return Secret{}, fmt.Errorf("%w: it is not base64", ErrSecret)
	}
	if len(key) < MinSecretBytes || len(key) > MaxSecretBytes {
		return Secret{}, fmt.Errorf("%w: it has %d bytes (accepted: %d to %d)",
			ErrSecret, len(key), MinSecretBytes, MaxSecretBytes)
	}
	return newKey(key), nil
}

// MustParseSecret is like ParseSecret but panics if text is invalid. Use it for constant
// secrets, such as in tests.
func MustParseSecret(text string) Secret {
	s, err := ParseSecret(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Reveal returns the secret in the format of ParseSecret, to store it or to show it to
// the receiver once.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(**s.key)
}

// IsZero reports whether the secret is empty.
func (s Secret) IsZero() bool { return s.key == nil }

// String returns the mask, or "" if the secret is empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return masked
}

// Format writes the mask for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns the mask. Use Reveal to store a secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the format of ParseSecret.
func (s *Secret) UnmarshalText(text []byte) error {
	parsed, err := ParseSecret(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
