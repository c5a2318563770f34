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

// The headers of a webhook.
const (
	HeaderID        xhttp.Header = "Webhook-Id"
	HeaderTimestamp xhttp.Header = "Webhook-Timestamp"
	HeaderSignature xhttp.Header = "Webhook-Signature"
)

// prefix is the version of the signatures that this package makes and accepts.
const prefix = "v1,"

// MaxIDBytes is the greatest length of an ID.
const MaxIDBytes = 200

// NewID returns a new ID of an event.
func NewID() string { return "msg_" + rand.Text() }

// ValidID reports whether an ID has 1 to 200 printable ASCII characters and no full stop,
// which would let a part of the body pass for the timestamp.
func ValidID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '.' {
			return false
		}
	}
	return id != "" && len(id) <= MaxIDBytes
}

// Sign returns the value of the signature header for one attempt: for each secret "v1,"
// and the base64 of an HMAC-SHA256 over id, timestamp (in whole seconds) and body,
// separated by spaces. Empty secrets are skipped.
func Sign(id string, timestamp time.Time, body []byte, secrets ...Secret) string {
	var all []string
	for _, s := range secrets {
		if !s.IsZero() {
			all = append(all, prefix+base64.StdEncoding.EncodeToString(s.mac(id, timestamp, body)))
		}
	}
	return strings.Join(all, " ")
}

// Verify reports whether one of the signatures in the value of the signature header was
// made with one of the secrets. Signatures of other versions than v1 are ignored. The
// comparison takes the same time for every wrong signature.
func Verify(header, id string, timestamp time.Time, body []byte, secrets ...Secret) bool {
	var given [][]byte
	for s := range strings.FieldsSeq(header) {
		encoded, ok := strings.CutPrefix(s, prefix)
		if mac, err := base64.StdEncoding.Strict().DecodeString(encoded); ok && err == nil {
			given = append(given, mac)
		}
	}
	return len(given) > 0 && slices.ContainsFunc(secrets, func(s Secret) bool {
		if s.IsZero() {
			return false
		}
		want := s.mac(id, timestamp, body)
		return slices.ContainsFunc(given, func(mac []byte) bool { return hmac.Equal(mac, want) })
	})
}

func (s Secret) mac(id string, timestamp time.Time, body []byte) []byte {
	h := hmac.New(sha256.New, **s.key)
	// a hash never fails
	_, _ = io.WriteString(h, id+"."+strconv.FormatInt(timestamp.Unix(), 10)+".")
	_, _ = h.Write(body)
	return h.Sum(nil)
}
