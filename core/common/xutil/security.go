package xutil

import (
	"crypto/md5" //nolint:gosec // for checksums only
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// keyPrefix identifies keys to readers and secret scanners.
const keyPrefix = "cs_"

const (
	keyDigits     = 32
	longKeyDigits = 64
)

// Keys generates and checks access keys. See Security.
type Keys struct{}

// Security returns the Keys group.
func Security() Keys { return Keys{} }

// GenerateKey returns "cs_" and 32 hexadecimal digits: 128 random bits.
func (Keys) GenerateKey() string { return randomKey(keyDigits) }

// GenerateLongKey returns "cs_" and 64 hexadecimal digits: 256 random bits.
func (Keys) GenerateLongKey() string { return randomKey(longKeyDigits) }

// VerifyKey reports whether key has the format of a key. It does not authenticate the
// key.
func (Keys) VerifyKey(key string) bool {
	digits, ok := strings.CutPrefix(key, keyPrefix)
	if !ok || (len(digits) != keyDigits && len(digits) != longKeyDigits) {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

// Equal reports whether two secrets are equal, in a time that depends on their lengths
// only.
func (Keys) Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func randomKey(digits int) string {
	b := make([]byte, digits/2)
	_, _ = rand.Read(b) // never fails
	return keyPrefix + hex.EncodeToString(b)
}

// Digests computes digests. See Encryption.
type Digests struct{}

// Encryption returns the Digests group. Digests are lower-case hexadecimal strings. Do
// not use them for passwords: use Password.
func Encryption() Digests { return Digests{} }

// MD5 returns the MD5 digest of text. Use it only for checksums that another system
// requires.
func (Digests) MD5(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // for checksums only
	return hex.EncodeToString(sum[:])
}

// SHA256 returns the SHA-256 digest of text.
func (Digests) SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
