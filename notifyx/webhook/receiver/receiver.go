// Package receiver verifies received webhooks according to the Standard Webhooks
// specification, with a Verifier or a gin middleware.
//
//	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
//	engine.POST("/hooks", receiver.Middleware(verifier), handle)
//
// All types are safe for concurrent use. Errors and logs contain no secret and no
// payload.
package receiver

import (
	"errors"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// Errors of NewVerifier and Verify, for use with errors.Is.
var (
	// ErrOption reports an invalid option.
	ErrOption = errors.New("webhook/receiver: invalid option")
	// ErrHeader reports a missing or malformed webhook header.
	ErrHeader = errors.New("webhook/receiver: invalid header")
	// ErrTimestamp reports a timestamp outside the tolerance.
	ErrTimestamp = errors.New("webhook/receiver: timestamp out of tolerance")
	// ErrSignature reports that no signature matches any secret.
	ErrSignature = errors.New("webhook/receiver: no signature matches")
	// ErrBodyTooLarge reports a body above the limit.
	ErrBodyTooLarge = errors.New("webhook/receiver: body too large")
)

var codes = []struct {
	err  error
	code *xerror.ErrorCode
}{
	{ErrBodyTooLarge, xerror.PayloadTooLarge},
	{ErrSignature, xerror.SignatureInvalid},
	{ErrHeader, xerror.SignatureInvalid},
	{ErrTimestamp, xerror.SignatureInvalid},
	{ErrOption, xerror.ConfigError},
	{signature.ErrSecret, xerror.InvalidValue},
}

// registerMapper registers mapError with xerror, once per program.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

func mapError(err error) *xerror.ErrorCode {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return nil
}
