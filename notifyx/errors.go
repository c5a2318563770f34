package notifyx

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Errors for use with errors.Is.
var (
	// ErrMessage reports an invalid message. It is an ErrPermanent.
	ErrMessage = errors.New("notifyx: the message is not valid")
	// ErrTemplate reports a template that is malformed, missing or cannot be rendered.
	// Except for ErrNoTemplate it is an ErrPermanent.
	ErrTemplate = errors.New("notifyx: template")
	// ErrNoTemplate reports an unknown template name. It is an ErrTemplate but not an
	// ErrPermanent, because a replica with a later version may have the template.
	ErrNoTemplate error = &templateError{problem: "no such template", absent: true}
	// ErrNoSender reports a type without a registered sender. It is not an ErrPermanent,
	// because another replica may have the sender.
	ErrNoSender = errors.New("notifyx: no sender")
	// ErrPermanent reports a failure that a retry cannot fix.
	ErrPermanent = errors.New("notifyx: permanent failure")
)

type permanentError struct{ err error }

// Error implements error.
func (e *permanentError) Error() string { return e.err.Error() }

// Unwrap returns the error passed to Permanent.
func (e *permanentError) Unwrap() error { return e.err }

// Is reports whether target is ErrPermanent.
func (e *permanentError) Is(target error) bool { return target == ErrPermanent }

// Permanent wraps err so that it is an ErrPermanent: the message is not retried. It
// returns nil if err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	registerMapper()
	return &permanentError{err}
}

type messageError struct{ problems []error }

// Error returns all problems, separated by semicolons.
func (e *messageError) Error() string {
	texts := make([]string, len(e.problems))
	for i, p := range e.problems {
		texts[i] = p.Error()
	}
	return ErrMessage.Error() + ": " + strings.Join(texts, "; ")
}

// Is reports whether target is ErrMessage or ErrPermanent.
func (e *messageError) Is(target error) bool {
	return target == ErrMessage || target == ErrPermanent
}

// Unwrap returns the problems.
func (e *messageError) Unwrap() []error { return e.problems }

// InvalidMessage returns an ErrMessage with the problems of a message, or nil if all
// problems are nil. Problems must not contain values of the message, because they may be
// logged.
func InvalidMessage(problems ...error) error {
	registerMapper()
	problems = slices.DeleteFunc(slices.Clone(problems), func(err error) bool { return err == nil })
	if len(problems) == 0 {
		return nil
	}
	return &messageError{problems}
}

// registerMapper registers mapError with xerror, once per program.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

func mapError(err error) *xerror.ErrorCode {
	var failed *sendError
	switch {
	case errors.As(err, &failed):
		return failed.code()
	case errors.Is(err, ErrMessage):
		return xerror.ParameterError
	case errors.Is(err, ErrNoSender), errors.Is(err, ErrNoTemplate):
		return xerror.ConfigError
	case errors.Is(err, ErrTemplate):
		return xerror.ServerInternalError
	default:
		return nil
	}
}
