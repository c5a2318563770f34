package signature

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

// Webhook headers.
const (
	HeaderID        xhttp.Header = "Webhook-Id"
	HeaderTimestamp xhttp.Header = "Webhook-Timestamp"
	HeaderSignature xhttp.Header = "Webhook-Signature"
)

// prefix is the supported version of signatures.
const prefix = "v1,"

// MaxIDBytes is the maximum length of an event ID.
const MaxIDBytes = 200

// NewID returns a random event ID.
func NewID() string { return "msg_" + rand.Text() }

// ValidID reports whether id has 1 to 200 printable ASCII characters and no full stop. A
// full stop could move the boundary between the signed ID and timestamp.
func ValidID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '.' {
			return false
		}
	}
	return id != "" && len(id) <= MaxIDBytes
}

// Sign returns the value of the signature header for one attempt. For each secret it
// contains "v1," and the base64 encoding of an HMAC-SHA256 over ID, timestamp (in whole
// seconds) and body, separated by spaces. Empty secrets are skipped.
func Sign(id string, timestamp time.Time, body []byte, secrets ...Secret) string {
	var all []string
	for _, s := range secrets {
		if !s.IsZero() {
			all = append(all, prefix+base64.StdEncoding.EncodeToString(s.mac(id, timestamp, body)))
		}
	}
	return strings.Join(all, " ")
}

// Verify reports whether the signature header contains a signature made with one of the
// secrets. Signatures of versions other than v1 are ignored. Signatures are compared in
// constant time.
func Verify(header, id string, timestamp time.Time, body []byte, secrets ...Secret) bool {
	var macs [][]byte
	for s := range strings.FieldsSeq(header) {
		encoded, ok := strings.CutPrefix(s, prefix)
		if mac, err := base64.StdEncoding.Strict().DecodeString(encoded); ok && err == nil {
			macs = append(macs, mac)
		}
	}
	return len(macs) > 0 && slices.ContainsFunc(secrets, func(s Secret) bool {
		if s.IsZero() {
			return false
		}
		want := s.mac(id, timestamp, body)
		return slices.ContainsFunc(macs, func(mac []byte) bool { return hmac.Equal(mac, want) })
	})
}

func (s Secret) mac(id string, timestamp time.Time, body []byte) []byte {
	h := hmac.New(sha256.New, **s.key)
	// a hash never fails
	_, _ = io.WriteString(h, id+"."+strconv.FormatInt(timestamp.Unix(), 10)+".")
	_, _ = h.Write(body)
	return h.Sum(nil)
}
