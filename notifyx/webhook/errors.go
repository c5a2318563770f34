package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xNotify "github.com/plinthgo/plinth/notifyx"
)

// The errors of sending, with errors.Is. ErrURL, ErrBlockedAddress, ErrEndpoint, ErrUnknownEndpoint, ErrEvent,
// ErrPayloadTooLarge and ErrGone do not go away by trying again.
var (
	// ErrOption reports an option that makes no sense.
	ErrOption = errors.New("xwebhook: wrong option")
	// ErrSecret reports a secret that is none.
	ErrSecret = errors.New("xwebhook: wrong secret")
	// ErrURL reports a URL that no webhook is sent to.
	ErrURL = errors.New("xwebhook: the URL is not allowed")
	// ErrBlockedAddress reports a receiver whose name stands for an address that is not public.
	ErrBlockedAddress = errors.New("xwebhook: the address is blocked")
	// ErrEndpoint reports a receiver without an id or a secret, or with a header that is not its own to set.
	ErrEndpoint = errors.New("xwebhook: wrong endpoint")
	// ErrUnknownEndpoint reports an id without a receiver, or with one that was disabled. An Endpoints returns it.
	ErrUnknownEndpoint = errors.New("xwebhook: unknown endpoint")
	// ErrEvent reports an event with a wrong id, without a type, or with data that cannot be encoded.
	ErrEvent = errors.New("xwebhook: wrong event")
	// ErrPayloadTooLarge reports an event above the limit.
	ErrPayloadTooLarge = errors.New("xwebhook: the payload is too large")
	// ErrTimeout reports an exchange that did not end in time.
	ErrTimeout = errors.New("xwebhook: the receiver took too long")
	// ErrConnection reports a receiver that cannot be reached, or whose answer is no HTTP.
	ErrConnection = errors.New("xwebhook: the receiver does not answer")
	// ErrResponseTooLarge reports an answer above the limit, whatever its status.
	ErrResponseTooLarge = errors.New("xwebhook: the response is too large")
	// ErrStatus reports an answer other than 2xx; errors.As finds the *StatusError.
	ErrStatus = errors.New("xwebhook: the receiver refused")
	// ErrRedirect reports an answer 3xx, which is not followed. It is an ErrStatus too.
	ErrRedirect = errors.New("xwebhook: the receiver redirects")
	// ErrGone reports the answer 410: the receiver wants no more webhooks. It is an ErrStatus too.
	ErrGone = errors.New("xwebhook: the receiver is gone")
	// ErrCircuitOpen reports a receiver that has failed too often and is left alone for a while; errors.As finds the
	// *CircuitOpenError. Nothing was sent.
	ErrCircuitOpen = errors.New("xwebhook: the circuit is open")
)

// The errors of receiving, with errors.Is.
var (
	// ErrHeader reports a missing or malformed webhook header.
	ErrHeader = errors.New("xwebhook: wrong header")
	// ErrTimestamp reports a timestamp too far from now.
	ErrTimestamp = errors.New("xwebhook: the timestamp is out of tolerance")
	// ErrSignature reports that no signature fits any secret.
	ErrSignature = errors.New("xwebhook: no signature matches")
	// ErrBodyTooLarge reports a request above the limit.
	ErrBodyTooLarge = errors.New("xwebhook: the body is too large")
)

// StatusError is an answer other than 2xx. It holds nothing that the receiver wrote.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// Wait is how long the receiver asks to be left alone, within the client's bounds; 0 where it does not. It is read from
	// 429, 502, 503 and 504.
	Wait time.Duration
}

// Error tells the status.
func (e *StatusError) Error() string { return fmt.Sprintf("%v: status %d", ErrStatus, e.Status) }

// RetryAfter returns Wait, as xNotify.RetryAfterer has it.
func (e *StatusError) RetryAfter() time.Duration { return e.Wait }

// Is finds ErrStatus, and ErrRedirect or ErrGone where the status says so.
func (e *StatusError) Is(target error) bool {
	switch target {
	case ErrStatus:
		return true
	case ErrRedirect:
		return e.Status >= http.StatusMultipleChoices && e.Status < http.StatusBadRequest
	case ErrGone:
		return e.Status == http.StatusGone
	default:
		return false
	}
}

// CircuitOpenError says when to ask again.
type CircuitOpenError struct {
	// Wait is how long the circuit stays open at least.
	Wait time.Duration
}

// Error tells the time.
func (e *CircuitOpenError) Error() string {
	return fmt.Sprintf("%v for %s", ErrCircuitOpen, e.Wait.Round(time.Millisecond))
}

// RetryAfter returns Wait, as xNotify.RetryAfterer has it.
func (e *CircuitOpenError) RetryAfter() time.Duration { return e.Wait }

// Is finds ErrCircuitOpen.
func (e *CircuitOpenError) Is(target error) bool { return target == ErrCircuitOpen }

// RetryAfter returns how long to wait before the next attempt, where the error of Send says so.
func RetryAfter(err error) (time.Duration, bool) {
	var later xNotify.RetryAfterer
	if !errors.As(err, &later) {
		return 0, false
	}
	return later.RetryAfter(), later.RetryAfter() > 0
}

// permanent are the errors that another attempt would give again.
var permanent = []error{ErrURL, ErrBlockedAddress, ErrEndpoint, ErrUnknownEndpoint, ErrEvent, ErrPayloadTooLarge, ErrGone}

func isPermanent(err error) bool {
	return slices.ContainsFunc(permanent, func(target error) bool { return errors.Is(err, target) })
}

// registerMapper tells xError about the errors of webhooks, once a program sends or receives some.
var registerMapper = sync.OnceFunc(func() { xError.RegisterMapper(mapError) })

func mapError(err error) *xError.ErrorCode {
	for _, m := range errorCodes {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	return nil
}

var errorCodes = []struct {
	err  error
	code *xError.ErrorCode
}{
	{ErrBodyTooLarge, xError.PayloadTooLarge},
	{ErrSignature, xError.SignatureInvalid},
	{ErrHeader, xError.SignatureInvalid},
	{ErrTimestamp, xError.SignatureInvalid},
	{ErrOption, xError.ConfigError},
	{ErrSecret, xError.InvalidValue},
	{ErrURL, xError.InvalidValue},
	{ErrBlockedAddress, xError.InvalidValue},
	{ErrEndpoint, xError.InvalidValue},
	{ErrUnknownEndpoint, xError.NotExist},
	{ErrEvent, xError.DeveloperError},
	{ErrPayloadTooLarge, xError.DeveloperError},
	{ErrCircuitOpen, xError.CircuitBreaker},
	{ErrTimeout, xError.UpstreamTimeout},
	{ErrConnection, xError.WebhookError},
	{ErrResponseTooLarge, xError.WebhookError},
	{ErrStatus, xError.WebhookError},
}
