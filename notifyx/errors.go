package notifyx

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// The errors that a caller may want to tell apart, with errors.Is.
var (
	// ErrMessage reports a message that is not valid. It is an ErrPermanent.
	ErrMessage = errors.New("notifyx: the message is not valid")
	// ErrTemplate reports a template that is malformed, missing, or cannot be filled in.
	// But for ErrNoTemplate it is an ErrPermanent.
	ErrTemplate = errors.New("notifyx: template")
	// ErrNoTemplate reports a name that no template has. It is an ErrTemplate, and not an
	// ErrPermanent: another replica, of a later version, may have the template.
	ErrNoTemplate error = &templateError{what: "no such template", absent: true}
	// ErrNoSender reports a type without a sender. It is not an ErrPermanent: another
	// replica may have one.
	ErrNoSender = errors.New("notifyx: no sender")
	// ErrPermanent reports a failure that trying again cannot mend.
	ErrPermanent = errors.New("notifyx: permanent failure")
)

// permanentError is an error that is an ErrPermanent too.
type permanentError struct{ err error }

// Error implements error.
func (e *permanentError) Error() string { return e.err.Error() }

// Unwrap returns what Permanent was given.
func (e *permanentError) Unwrap() error { return e.err }

// Is makes the error an ErrPermanent.
func (e *permanentError) Is(target error) bool { return target == ErrPermanent }

// Permanent returns an error with which a sender says that trying again is useless. A nil
// err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	registerMapper()
	return &permanentError{err}
}

// messageError is an ErrMessage.
type messageError struct{ problems []error }

// Error has one problem after the other.
func (e *messageError) Error() string {
	texts := make([]string, len(e.problems))
	for i, p := range e.problems {
		texts[i] = p.Error()
	}
	return ErrMessage.Error() + ": " + strings.Join(texts, "; ")
}

// Is makes the error an ErrMessage and an ErrPermanent.
func (e *messageError) Is(target error) bool {
	return target == ErrMessage || target == ErrPermanent
}

// Unwrap returns the problems.
func (e *messageError) Unwrap() []error { return e.problems }

// InvalidMessage returns an ErrMessage with what is wrong with a message, or nil where
// nothing is. The problems show no values: they may end in a log.
func InvalidMessage(problems ...error) error {
	registerMapper()
	problems = slices.DeleteFunc(slices.Clone(problems), func(err error) bool { return err == nil })
	if len(problems) == 0 {
		return nil
	}
	return &messageError{problems}
}

// registerMapper tells xerror about these errors, once a program has some.
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
