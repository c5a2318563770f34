package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// Errors of sending, for use with errors.Is. A retry does not fix ErrURL,
// ErrBlockedAddress, ErrEndpoint, ErrUnknownEndpoint, ErrEvent, ErrPayloadTooLarge and
// ErrGone.
var (
	// ErrOption reports an invalid option.
	ErrOption = errors.New("webhook: invalid option")
	// ErrURL reports a URL that is not allowed.
	ErrURL = errors.New("webhook: URL not allowed")
	// ErrBlockedAddress reports a receiver with an address that is not public.
	ErrBlockedAddress = errors.New("webhook: address blocked")
	// ErrEndpoint reports a receiver without an ID or a secret, or with a reserved
	// header.
	ErrEndpoint = errors.New("webhook: invalid endpoint")
	// ErrUnknownEndpoint reports a receiver that does not exist or is disabled.
	// Implementations of Endpoints return it.
	ErrUnknownEndpoint = errors.New("webhook: unknown endpoint")
	// ErrEvent reports an event with an invalid ID, without a type, or with data that
	// cannot be encoded.
	ErrEvent = errors.New("webhook: invalid event")
	// ErrPayloadTooLarge reports an event above the size limit.
	ErrPayloadTooLarge = errors.New("webhook: payload too large")
	// ErrTimeout reports that the receiver did not respond within the timeout.
	ErrTimeout = errors.New("webhook: timeout")
	// ErrConnection reports a receiver that is unreachable or does not respond with valid
	// HTTP.
	ErrConnection = errors.New("webhook: connection failed")
	// ErrResponseTooLarge reports a response above the size limit, regardless of its
	// status.
	ErrResponseTooLarge = errors.New("webhook: response too large")
	// ErrStatus reports a response other than 2xx, including redirects, which are not
	// followed. errors.As finds the *StatusError.
	ErrStatus = errors.New("webhook: delivery rejected")
	// ErrGone reports the status 410: the receiver no longer accepts webhooks. It is also
	// an ErrStatus.
	ErrGone = errors.New("webhook: receiver gone")
	// ErrCircuitOpen reports that nothing was sent because the receiver failed too often.
	// RetryAfter returns the remaining time.
	ErrCircuitOpen = errors.New("webhook: the circuit is open")
)

// StatusError is a response other than 2xx. It contains no text from the receiver.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// Wait is the value of Retry-After, limited to the range of the client, or 0 if it is
	// not set. It is read from responses with status 429, 502, 503 and 504.
	Wait time.Duration
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("%v: status %d", ErrStatus, e.Status) }

// RetryAfter returns Wait. It implements notifyx.RetryAfterer.
func (e *StatusError) RetryAfter() time.Duration { return e.Wait }

// Is reports whether target is ErrStatus, or ErrGone if the status is 410.
func (e *StatusError) Is(target error) bool {
	return target == ErrStatus || target == ErrGone && e.Status == http.StatusGone
}

// circuitOpenError contains the minimum time that the circuit stays open.
type circuitOpenError struct{ wait time.Duration }

// Error implements error.
func (e *circuitOpenError) Error() string {
	return fmt.Sprintf("%v for %s", ErrCircuitOpen, e.wait.Round(time.Millisecond))
}

// RetryAfter implements notifyx.RetryAfterer.
func (e *circuitOpenError) RetryAfter() time.Duration { return e.wait }

// Unwrap returns ErrCircuitOpen.
func (e *circuitOpenError) Unwrap() error { return ErrCircuitOpen }

// RetryAfter returns the delay before the next attempt, if the error of Send contains
// one.
func RetryAfter(err error) (time.Duration, bool) {
	later, ok := errors.AsType[notifyx.RetryAfterer](err)
	if !ok {
		return 0, false
	}
	return later.RetryAfter(), later.RetryAfter() > 0
}

// permanent lists the errors that a retry does not fix.
var permanent = []error{
	ErrURL, ErrBlockedAddress, ErrEndpoint, ErrUnknownEndpoint, ErrEvent,
	ErrPayloadTooLarge, ErrGone,
}

func isPermanent(err error) bool {
	return slices.ContainsFunc(permanent, func(target error) bool { return errors.Is(err, target) })
}

// registerMapper registers mapError with xerror, once per program.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

func mapError(err error) *xerror.ErrorCode {
	for _, m := range errorCodes {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	return nil
}

var errorCodes = []struct {
	err  error
	code *xerror.ErrorCode
}{
	{ErrOption, xerror.ConfigError},
	{signature.ErrSecret, xerror.InvalidValue},
	{ErrURL, xerror.InvalidValue},
	{ErrBlockedAddress, xerror.InvalidValue},
	{ErrEndpoint, xerror.InvalidValue},
	{ErrUnknownEndpoint, xerror.NotExist},
	{ErrEvent, xerror.DeveloperError},
	{ErrPayloadTooLarge, xerror.DeveloperError},
	{ErrCircuitOpen, xerror.CircuitBreaker},
	{ErrTimeout, xerror.UpstreamTimeout},
	{ErrConnection, xerror.WebhookError},
	{ErrResponseTooLarge, xerror.WebhookError},
	{ErrStatus, xerror.WebhookError},
}
