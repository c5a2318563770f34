// Package signature has the secrets and signatures of webhooks, as the Standard Webhooks
// specification defines them. Package webhook signs with it, package receiver verifies
// with it.
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

// The lengths of a secret in bytes, before it is encoded.
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
var ErrSecret = errors.New("webhook/signature: wrong secret")

// Secret is the key that sender and receiver of a webhook share. It prints as "***" with
// fmt, log/slog and encoding/json, also as a field of another value. The zero value is no
// secret; it signs and verifies nothing.
type Secret struct {
	key **[]byte // fmt cannot call methods of an unexported field, and then follows one pointer
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

// ParseSecret reads "whsec_" and the base64 of 24 to 64 bytes. The error, ErrSecret, does
// not show the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, fmt.Errorf("%w: it does not begin with %s", ErrSecret, secretPrefix)
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

// MustParseSecret is ParseSecret for secrets that cannot be wrong, such as those of
// tests. It panics otherwise.
func MustParseSecret(text string) Secret {
	s, err := ParseSecret(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Reveal returns the secret in the form that ParseSecret reads, to be stored or to be
// shown to the receiver once.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(**s.key)
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.key == nil }

// String returns the mask, or "" without a secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return masked
}

// Format writes the mask whatever the verb.
// the state keeps the writer's error
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns the mask: a secret is stored with Reveal, on purpose.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSecret.
func (s *Secret) UnmarshalText(text []byte) error {
	parsed, err := ParseSecret(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
