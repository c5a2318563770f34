package xutil

import (
	"crypto/md5" //nolint:gosec // for checksums, as its comment says
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// keyPrefix makes a key recognizable, for people and for scanners of leaked secrets.
const keyPrefix = "cs_"

// The numbers of hexadecimal digits in a key.
const (
	keyDigits     = 32
	longKeyDigits = 64
)

// Keys makes access keys; get it with Security.
type Keys struct{}

// Security returns the group that makes and checks access keys.
func Security() Keys { return Keys{} }

// GenerateKey returns "cs_" and 32 hexadecimal digits: 128 random bits.
func (Keys) GenerateKey() string { return randomKey(keyDigits) }

// GenerateLongKey returns "cs_" and 64 hexadecimal digits: 256 random bits.
func (Keys) GenerateLongKey() string { return randomKey(longKeyDigits) }

// VerifyKey reports whether a text has the form of a key. Whose key it is must be looked
// up.
func (Keys) VerifyKey(key string) bool {
	digits, ok := strings.CutPrefix(key, keyPrefix)
	if !ok || (len(digits) != keyDigits && len(digits) != longKeyDigits) {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

// Equal compares two secrets in a time that depends on their lengths only.
func (Keys) Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func randomKey(digits int) string {
	b := make([]byte, digits/2)
	_, _ = rand.Read(b) // never fails
	return keyPrefix + hex.EncodeToString(b)
}

// Digests computes digests; get it with Encryption.
type Digests struct{}

// Encryption returns the group that computes digests, in lower-case hexadecimal digits.
// They hide nothing that can be guessed: passwords belong to Password.
func Encryption() Digests { return Digests{} }

// MD5 returns the MD5 digest of a text. It is for checksums that another system asks for,
// not for security.
func (Digests) MD5(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // for checksums, as its comment says
	return hex.EncodeToString(sum[:])
}

// SHA256 returns the SHA-256 digest of a text.
func (Digests) SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
