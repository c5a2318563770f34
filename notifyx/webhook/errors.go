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

// The errors of sending, with errors.Is. ErrURL, ErrBlockedAddress, ErrEndpoint,
// ErrUnknownEndpoint, ErrEvent, ErrPayloadTooLarge and ErrGone do not go away by trying
// again.
var (
	// ErrOption reports an option that makes no sense.
	ErrOption = errors.New("webhook: wrong option")
	// ErrURL reports a URL that no webhook is sent to.
	ErrURL = errors.New("webhook: the URL is not allowed")
	// ErrBlockedAddress reports a receiver whose name stands for an address that is not
	// public.
	ErrBlockedAddress = errors.New("webhook: the address is blocked")
	// ErrEndpoint reports a receiver without an id or a secret, or with a header that is
	// not its own to set.
	ErrEndpoint = errors.New("webhook: wrong endpoint")
	// ErrUnknownEndpoint reports an id without a receiver, or with one that was disabled.
	// An Endpoints returns it.
	ErrUnknownEndpoint = errors.New("webhook: unknown endpoint")
	// ErrEvent reports an event with a wrong id, without a type, or with data that cannot
	// be encoded.
	ErrEvent = errors.New("webhook: wrong event")
	// ErrPayloadTooLarge reports an event above the limit.
	ErrPayloadTooLarge = errors.New("webhook: the payload is too large")
	// ErrTimeout reports an exchange that did not end in time.
	ErrTimeout = errors.New("webhook: the receiver took too long")
	// ErrConnection reports a receiver that cannot be reached, or whose answer is no
	// HTTP.
	ErrConnection = errors.New("webhook: the receiver does not answer")
	// ErrResponseTooLarge reports an answer above the limit, whatever its status.
	ErrResponseTooLarge = errors.New("webhook: the response is too large")
	// ErrStatus reports an answer other than 2xx, also a redirect, which is not followed;
	// errors.As finds the *StatusError.
	ErrStatus = errors.New("webhook: the receiver refused")
	// ErrGone reports the answer 410: the receiver wants no more webhooks. It is an
	// ErrStatus too.
	ErrGone = errors.New("webhook: the receiver is gone")
	// ErrCircuitOpen reports a receiver that has failed too often and is left alone for a
	// while, which RetryAfter tells. Nothing was sent.
	ErrCircuitOpen = errors.New("webhook: the circuit is open")
)

// StatusError is an answer other than 2xx. It holds nothing that the receiver wrote.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// Wait is how long the receiver asks to be left alone, within the client's bounds; 0
	// where it does not. It is read from 429, 502, 503 and 504.
	Wait time.Duration
}

// Error tells the status.
func (e *StatusError) Error() string { return fmt.Sprintf("%v: status %d", ErrStatus, e.Status) }

// RetryAfter returns Wait, as notifyx.RetryAfterer has it.
func (e *StatusError) RetryAfter() time.Duration { return e.Wait }

// Is finds ErrStatus, and ErrGone where the status says so.
func (e *StatusError) Is(target error) bool {
	return target == ErrStatus || target == ErrGone && e.Status == http.StatusGone
}

// circuitOpenError says how long the circuit stays open at least.
type circuitOpenError struct{ wait time.Duration }

// Error tells the time.
func (e *circuitOpenError) Error() string {
	return fmt.Sprintf("%v for %s", ErrCircuitOpen, e.wait.Round(time.Millisecond))
}

// RetryAfter implements notifyx.RetryAfterer.
func (e *circuitOpenError) RetryAfter() time.Duration { return e.wait }

// Unwrap returns ErrCircuitOpen.
func (e *circuitOpenError) Unwrap() error { return ErrCircuitOpen }

// RetryAfter returns how long to wait before the next attempt, where the error of Send
// says so.
func RetryAfter(err error) (time.Duration, bool) {
	later, ok := errors.AsType[notifyx.RetryAfterer](err)
	if !ok {
		return 0, false
	}
	return later.RetryAfter(), later.RetryAfter() > 0
}

// permanent are the errors that another attempt would give again.
var permanent = []error{
	ErrURL, ErrBlockedAddress, ErrEndpoint, ErrUnknownEndpoint, ErrEvent,
	ErrPayloadTooLarge, ErrGone,
}

func isPermanent(err error) bool {
	return slices.ContainsFunc(permanent, func(target error) bool { return errors.Is(err, target) })
}

// registerMapper tells xerror about the errors of webhooks, once a program sends some.
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
