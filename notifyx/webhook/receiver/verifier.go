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

// Delivery is a webhook that was verified.
type Delivery struct {
	// ID is the event's: the same when it is sent again.
	ID string
	// Timestamp is when the attempt was signed, in whole seconds.
	Timestamp time.Time
}

// Verifier checks what was received. It is safe for concurrent use.
type Verifier struct {
	secrets   []signature.Secret
	tolerance time.Duration
	maxBody   int
	now       func() time.Time
}

// Option changes a Verifier.
type Option func(*Verifier)

// WithTolerance says how far a timestamp may be from now, in the past and in the future;
// 5 min by default.
func WithTolerance(d time.Duration) Option { return func(v *Verifier) { v.tolerance = d } }

// WithMaxBody bounds the body of a request; 1 MiB by default.
func WithMaxBody(bytes int) Option { return func(v *Verifier) { v.maxBody = bytes } }

// WithClock takes the time from now, for tests.
func WithClock(now func() time.Time) Option { return func(v *Verifier) { v.now = now } }

// NewVerifier returns a verifier that accepts signatures by any of the secrets: during a
// rotation the old and the new one. The error, ErrOption or signature.ErrSecret, tells
// everything that is wrong.
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
			fmt.Errorf("%w: there is none, or an empty one", signature.ErrSecret))
	}
	if v.tolerance < time.Second {
		problems = append(problems,
			fmt.Errorf("%w: a tolerance of %s (accepted: 1s or more)", ErrOption, v.tolerance))
	}
	if v.maxBody <= 0 {
		problems = append(problems, fmt.Errorf("%w: a body of %d bytes", ErrOption, v.maxBody))
	}
	if v.now == nil {
		problems = append(problems, fmt.Errorf("%w: a clock that is nil", ErrOption))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	registerMapper()
	return v, nil
}

// Verify checks the headers of a request and its body, exactly as it was received. The
// error is ErrHeader, ErrTimestamp, ErrBodyTooLarge or ErrSignature. What the body means,
// and whether the id was seen before, is left to the caller.
//
// Signatures of other versions than v1 are left aside. Comparing takes the same time
// however much of a signature is right.
func (v *Verifier) Verify(header http.Header, body []byte) (Delivery, error) {
	h, err := v.head(header)
	if err != nil {
		return Delivery{}, err
	}
	return v.verify(h, body)
}

// head is the content of the headers, not yet verified.
type head struct {
	Delivery

	signatures string
}

// head reads the headers. They are checked before a body is read.
func (v *Verifier) head(header http.Header) (head, error) {
	var values [3]string
	for i, name := range []xhttp.Header{
		signature.HeaderID, signature.HeaderTimestamp,
		signature.HeaderSignature,
	} {
		all := header.Values(name.String())
		if len(all) != 1 || all[0] == "" {
			return head{}, fmt.Errorf("%w: %s is not there once", ErrHeader, name)
		}
		values[i] = all[0]
	}
	h := head{Delivery: Delivery{ID: values[0]}, signatures: values[2]}
	if !signature.ValidID(h.ID) {
		return head{}, fmt.Errorf("%w: %s is not an id", ErrHeader, signature.HeaderID)
	}
	seconds, err := strconv.ParseInt(values[1], 10, 64)
	if err != nil || seconds < 0 || strconv.FormatInt(seconds, 10) != values[1] {
		return head{}, fmt.Errorf("%w: %s is not a number of seconds",
			ErrHeader, signature.HeaderTimestamp)
	}
	if len(h.signatures) > maxSignatures {
		return head{}, fmt.Errorf("%w: %s is longer than %d bytes",
			ErrHeader, signature.HeaderSignature, maxSignatures)
	}
	h.Timestamp = time.Unix(seconds, 0)
	now := v.now()
	if h.Timestamp.Before(now.Add(-v.tolerance)) || h.Timestamp.After(now.Add(v.tolerance)) {
		return head{}, fmt.Errorf("%w: more than %s from now", ErrTimestamp, v.tolerance)
	}
	return h, nil
}

func (v *Verifier) verify(h head, body []byte) (Delivery, error) {
	if len(body) > v.maxBody {
		return Delivery{}, fmt.Errorf("%w: more than %d bytes", ErrBodyTooLarge, v.maxBody)
	}
	if !signature.Verify(h.signatures, h.ID, h.Timestamp, body, v.secrets...) {
		return Delivery{}, ErrSignature
	}
	return h.Delivery, nil
}
