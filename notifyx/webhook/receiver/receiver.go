// Package receiver verifies webhooks that a service receives, as the Standard Webhooks
// specification defines them: with a Verifier, or with a gin middleware around it.
//
//	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
//	engine.POST("/hooks", receiver.Middleware(verifier), handle)
//
// Everything is safe for concurrent use. Neither errors nor log lines contain a secret or
// a payload.
package receiver

import (
	"errors"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// The errors of NewVerifier and of Verify, with errors.Is.
var (
	// ErrOption reports an invalid option.
	ErrOption = errors.New("webhook/receiver: wrong option")
	// ErrHeader reports a missing or malformed webhook header.
	ErrHeader = errors.New("webhook/receiver: wrong header")
	// ErrTimestamp reports a timestamp too far from now.
	ErrTimestamp = errors.New("webhook/receiver: the timestamp is out of tolerance")
	// ErrSignature reports that no signature matches any secret.
	ErrSignature = errors.New("webhook/receiver: no signature matches")
	// ErrBodyTooLarge reports a request above the limit.
	ErrBodyTooLarge = errors.New("webhook/receiver: the body is too large")
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

// registerMapper registers the codes of the errors with xerror when the first verifier is
// made.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

func mapError(err error) *xerror.ErrorCode {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return nil
}
