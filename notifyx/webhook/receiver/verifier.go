package receiver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

const (
	defaultTolerance = 5 * time.Minute
	defaultMaxBody   = 1 << 20 // bytes
	maxSignatures    = 4 << 10 // bytes of the header
)

// Delivery is a verified webhook.
type Delivery struct {
	// ID is the event ID, which is the same for all attempts.
	ID string
	// Timestamp is the time of the signature, in whole seconds.
	Timestamp time.Time
}

// Verifier verifies received webhooks. It is safe for concurrent use.
type Verifier struct {
	secrets   []signature.Secret
	tolerance time.Duration
	maxBody   int
	now       func() time.Time
}

// Option configures a Verifier.
type Option func(*Verifier)

// WithTolerance sets the maximum difference between a timestamp and the current time, in
// the past and in the future. The default is 5 min.
func WithTolerance(d time.Duration) Option { return func(v *Verifier) { v.tolerance = d } }

// WithMaxBody limits the request body in bytes. The default is 1 MiB.
func WithMaxBody(bytes int) Option { return func(v *Verifier) { v.maxBody = bytes } }

// WithClock sets the clock, for tests.
func WithClock(now func() time.Time) Option { return func(v *Verifier) { v.now = now } }

// NewVerifier returns a verifier that accepts signatures with any of the secrets. During
// a rotation these are the old and the new secret. The error, ErrOption or
// signature.ErrSecret, contains every problem.
func NewVerifier(secrets []signature.Secret, opts ...Option) (*Verifier, error) {
	v := &Verifier{
		secrets: slices.Clone(secrets), tolerance: defaultTolerance,
		maxBody: defaultMaxBody, now: time.Now,
	}
	for _, o := range opts {
		if o != nil {
			o(v)
		}
	}
	var problems []error
	if len(secrets) == 0 || slices.ContainsFunc(secrets, signature.Secret.IsZero) {
		problems = append(problems,
			fmt.Errorf("%w: no secret, or an empty one", signature.ErrSecret))
	}
	if v.tolerance < time.Second {
		problems = append(problems,
			fmt.Errorf("%w: tolerance %s (accepted: 1s or more)", ErrOption, v.tolerance))
	}
	if v.maxBody <= 0 {
		problems = append(problems,
			fmt.Errorf("%w: body limit %d (accepted: 1 or more bytes)", ErrOption, v.maxBody))
	}
	if v.now == nil {
		problems = append(problems, fmt.Errorf("%w: nil clock", ErrOption))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	registerMapper()
	return v, nil
}

// Verify verifies the headers and the body of a request. The body must be unmodified. The
// error is ErrHeader, ErrTimestamp, ErrBodyTooLarge or ErrSignature. Verify does not
// interpret the body and does not detect duplicate IDs.
//
// Signatures of versions other than v1 are ignored. Signatures are compared in constant
// time.
func (v *Verifier) Verify(header http.Header, body []byte) (Delivery, error) {
	h, err := v.parseHeader(header)
	if err != nil {
		return Delivery{}, err
	}
	return v.verify(h, body)
}

// parsedHeader contains the webhook headers, which are not verified yet.
type parsedHeader struct {
	Delivery

	signatures string
}

// parseHeader parses and validates the headers.
func (v *Verifier) parseHeader(header http.Header) (parsedHeader, error) {
	var values [3]string
	for i, name := range []xhttp.Header{
		signature.HeaderID, signature.HeaderTimestamp, signature.HeaderSignature,
	} {
		all := header.Values(name.String())
		if len(all) != 1 || all[0] == "" {
			return parsedHeader{}, fmt.Errorf("%w: %s must occur once", ErrHeader, name)
		}
		values[i] = all[0]
	}
	h := parsedHeader{Delivery: Delivery{ID: values[0]}, signatures: values[2]}
	if !signature.ValidID(h.ID) {
		return parsedHeader{}, fmt.Errorf("%w: %s is not a valid ID", ErrHeader, signature.HeaderID)
	}
	seconds, err := strconv.ParseInt(values[1], 10, 64)
	if err != nil || seconds < 0 || strconv.FormatInt(seconds, 10) != values[1] {
		return parsedHeader{}, fmt.Errorf("%w: %s is not a number of seconds",
			ErrHeader, signature.HeaderTimestamp)
	}
	if len(h.signatures) > maxSignatures {
		return parsedHeader{}, fmt.Errorf("%w: %s is longer than %d bytes",
			ErrHeader, signature.HeaderSignature, maxSignatures)
	}
	h.Timestamp = time.Unix(seconds, 0)
	now := v.now()
	if h.Timestamp.Before(now.Add(-v.tolerance)) || h.Timestamp.After(now.Add(v.tolerance)) {
		return parsedHeader{}, fmt.Errorf("%w: more than %s from now", ErrTimestamp, v.tolerance)
	}
	return h, nil
}

func (v *Verifier) verify(h parsedHeader, body []byte) (Delivery, error) {
	if len(body) > v.maxBody {
		return Delivery{}, fmt.Errorf("%w: more than %d bytes", ErrBodyTooLarge, v.maxBody)
	}
	if !signature.Verify(h.signatures, h.ID, h.Timestamp, body, v.secrets...) {
		return Delivery{}, ErrSignature
	}
	return h.Delivery, nil
}
