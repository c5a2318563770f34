package xutil

import (
	"crypto/md5" //nolint:gosec // RFC 9562 asks for it
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// UUIDs makes UUIDs (RFC 9562); get it with UUID.
type UUIDs struct{}

// UUID returns the group that makes UUIDs, in lower case with dashes.
func UUID() UUIDs { return UUIDs{} }

// V4 returns a random UUID.
func (UUIDs) V4() string { return uuid.NewString() }

// V7 returns a UUID that sorts by its time of making, to the millisecond and beyond.
func (UUIDs) V7() string { return uuid.Must(uuid.NewV7()).String() }

// FromBytes returns the UUID of version 3 that Java's UUID.nameUUIDFromBytes makes: the
// MD5 digest of the bytes alone, without the namespace that the RFC puts before them.
func (UUIDs) FromBytes(name []byte) string {
	u := uuid.UUID(md5.Sum(name)) //nolint:gosec // RFC 9562 asks for it
	u[6] = u[6]&0x0f | 0x30
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// WithoutDashes returns the 32 hexadecimal digits of a UUID.
func (u UUIDs) WithoutDashes(text string) (string, error) {
	dashed, err := u.WithDashes(text)
	return strings.ReplaceAll(dashed, "-", ""), err
}

// WithDashes returns a UUID of 32 or 36 characters in its usual form.
func (UUIDs) WithDashes(text string) (string, error) {
	u, err := uuid.Parse(text)
	if err != nil || len(text) != 32 && len(text) != 36 { // uuid.Parse reads braces and URNs too
		return "", fmt.Errorf("%w: not a UUID", ErrParse)
	}
	return u.String(), nil
}
