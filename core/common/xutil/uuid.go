package xutil

import (
	"crypto/md5" //nolint:gosec // required by version 3 UUIDs
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// UUIDs generates and formats UUIDs (RFC 9562). See UUID.
type UUIDs struct{}

// UUID returns the UUIDs group. Its UUIDs are in lower case with dashes.
func UUID() UUIDs { return UUIDs{} }

// V4 returns a random UUID.
func (UUIDs) V4() string { return uuid.NewString() }

// V7 returns a UUID that sorts by creation time, with a precision below a millisecond.
func (UUIDs) V7() string { return uuid.Must(uuid.NewV7()).String() }

// FromBytes returns the version 3 UUID of Java's UUID.nameUUIDFromBytes: the MD5 digest
// of name without the namespace of RFC 9562.
func (UUIDs) FromBytes(name []byte) string {
	u := uuid.UUID(md5.Sum(name)) //nolint:gosec // required by version 3 UUIDs
	u[6] = u[6]&0x0f | 0x30
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// WithoutDashes returns the 32 hexadecimal digits of a UUID. The error wraps ErrParse.
func (u UUIDs) WithoutDashes(text string) (string, error) {
	dashed, err := u.WithDashes(text)
	return strings.ReplaceAll(dashed, "-", ""), err
}

// WithDashes returns the canonical form of a UUID of 32 or 36 characters. The error wraps
// ErrParse.
func (UUIDs) WithDashes(text string) (string, error) {
	u, err := uuid.Parse(text)
	if err != nil || len(text) != 32 && len(text) != 36 { // uuid.Parse also accepts braces and URNs
		return "", fmt.Errorf("%w: not a UUID", ErrParse)
	}
	return u.String(), nil
}
