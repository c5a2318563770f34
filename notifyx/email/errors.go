package email

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx"
)

// Errors for use with errors.Is. ErrMessage is also a notifyx.ErrPermanent, unless its
// cause is a template that does not exist. The others are not.
var (
	// ErrMessage reports an invalid message: invalid addresses, forged header fields, no
	// content, or too large.
	ErrMessage = errors.New("email: invalid message")
	// ErrTLS reports that the required encryption failed. Neither mail nor credentials
	// were sent.
	ErrTLS = errors.New("email: encryption failed")
	// ErrAuth reports failed authentication.
	ErrAuth = errors.New("email: authentication failed")
	// ErrTimeout reports a server that did not reply in time, or a context that was done
	// first.
	ErrTimeout = errors.New("email: timeout")
	// ErrConnection reports a connection that failed or whose server does not speak SMTP.
	ErrConnection = errors.New("email: connection failed")
	// ErrUncertain reports that a message was sent completely without getting a reply.
	// The server may have accepted it.
	ErrUncertain = errors.New("email: the message may have been accepted")
	// ErrClosed reports use of a closed client, or a send aborted by Close.
	ErrClosed = errors.New("email: client closed")
)

// Values of SMTPError.Step.
const (
	stepConnect  = "connect"
	stepGreeting = "greeting"
	stepHello    = "EHLO"
	stepStartTLS = "STARTTLS"
	stepTLS      = "TLS handshake"
	stepAuth     = "AUTH"
	stepReset    = "RSET"
	stepNoop     = "NOOP"
	stepMail     = "MAIL"
	stepRcpt     = "RCPT"
	stepData     = "DATA"
	stepContent  = "content"
)

// SMTPError is a negative reply of a server. Its text may contain addresses, so it is in
// ServerText and not in Error.
type SMTPError struct {
	// Step is the rejected command, "greeting", or "content" for the message content.
	Step string
	// Code is the reply code, such as 550.
	Code int
	// EnhancedCode is the status code of RFC 3463, such as "5.1.1", or "".
	EnhancedCode string

	text string
}

// Error returns the codes and the step.
func (e *SMTPError) Error() string {
	return "email: server replied " + e.status() + " to " + e.Step
}

func (e *SMTPError) status() string {
	return strings.TrimSpace(fmt.Sprint(e.Code) + " " + e.EnhancedCode)
}

// Temporary reports whether a retry may succeed.
func (e *SMTPError) Temporary() bool { return e.Code >= 400 && e.Code < 500 }

// ServerText returns the text of the server, or "" for AUTH. It is untrusted and may
// contain addresses and links.
func (e *SMTPError) ServerText() string { return e.text }

// Is reports whether the reply is an ErrAuth, an ErrTLS, or a notifyx.ErrPermanent
// because the server rejects the message permanently. Failed authentication is not
// permanent: the message can be sent after the configuration was fixed.
func (e *SMTPError) Is(target error) bool {
	switch target {
	case ErrAuth:
		return e.isLogin()
	case ErrTLS:
		return e.Step == stepStartTLS
	case notifyx.ErrPermanent:
		return e.Code >= 500 && !e.isLogin() && e.concernsMessage()
	default:
		return false
	}
}

// isLogin reports whether the reply concerns authentication (RFC 4954, section 6), which
// is also possible at MAIL.
func (e *SMTPError) isLogin() bool {
	return e.Step == stepAuth || slices.Contains([]int{530, 534, 535, 538}, e.Code)
}

func (e *SMTPError) concernsMessage() bool {
	return slices.Contains([]string{stepMail, stepRcpt, stepData, stepContent}, e.Step)
}

// newSMTPError returns the error of a reply and extracts its enhanced code.
func newSMTPError(step string, reply *textproto.Error) *SMTPError {
	e := &SMTPError{Step: step, Code: reply.Code}
	if step != stepAuth { // the reply to AUTH could contain the password
		e.text = reply.Msg
	}
	first, _, _ := strings.Cut(reply.Msg, " ")
	if isEnhanced(first) {
		e.EnhancedCode = first
	}
	return e
}

// isEnhanced reports whether s is a status code: class "." subject "." detail.
func isEnhanced(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || parts[0] != "4" && parts[0] != "5" {
		return false
	}
	for _, p := range parts {
		if p == "" || len(p) > 3 ||
			strings.ContainsFunc(p, func(r rune) bool { return r < '0' || r > '9' }) {
			return false
		}
	}
	return true
}

// RecipientsError reports recipients that the server rejected. The message was not sent
// to any recipient. The error text contains no address.
type RecipientsError struct {
	// Rejected maps each rejected recipient to the reply of the server.
	Rejected map[string]*SMTPError
	// Accepted lists the recipients that the server accepted.
	Accepted []string
}

// Error returns the counts and the codes.
func (e *RecipientsError) Error() string {
	codes := map[string]bool{}
	for _, reply := range e.Rejected {
		codes[reply.status()] = true
	}
	return fmt.Sprintf("email: server rejected %d of %d recipients (%s); message not sent",
		len(e.Rejected), len(e.Rejected)+len(e.Accepted),
		strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
}

// Temporary reports whether a retry may succeed, because all rejections are temporary.
func (e *RecipientsError) Temporary() bool {
	for _, reply := range e.Rejected {
		if !reply.Temporary() {
			return false
		}
	}
	return true
}

// Is reports whether target is notifyx.ErrPermanent and a retry cannot succeed.
func (e *RecipientsError) Is(target error) bool {
	return target == notifyx.ErrPermanent && !e.Temporary()
}

// Unwrap returns the replies of the server.
func (e *RecipientsError) Unwrap() []error {
	out := make([]error, 0, len(e.Rejected))
	for _, reply := range e.Rejected {
		out = append(out, reply)
	}
	return out
}

// failure is an error that matches several kinds.
type failure struct {
	kinds []error
	step  string
	cause error
}

// fail returns an error of a kind with its step and its cause, which may be nil.
func fail(kind error, step string, cause error) *failure {
	return &failure{kinds: []error{kind}, step: step, cause: cause}
}

func (f *failure) Error() string {
	text := f.kinds[0].Error()
	if f.step != "" {
		text += ": " + f.step
	}
	if f.cause != nil {
		text += ": " + strings.TrimPrefix(f.cause.Error(), "email: ")
	}
	return text
}

func (f *failure) Unwrap() []error {
	if f.cause == nil {
		return f.kinds
	}
	return append(slices.Clip(f.kinds), f.cause)
}

// invalid returns an ErrMessage with a cause. It is also a notifyx error of the same
// meaning. Template errors keep their own kind, because templates belong to the service:
// a missing one may exist in a later version.
func invalid(cause error) error {
	f := fail(ErrMessage, "", cause)
	switch {
	case errors.Is(cause, notifyx.ErrNoTemplate):
	case errors.Is(cause, notifyx.ErrTemplate):
		f.kinds = append(f.kinds, notifyx.ErrPermanent)
	default:
		f.kinds = append(f.kinds, notifyx.ErrMessage, notifyx.ErrPermanent)
	}
	return f
}

// contextError returns the error of a context that is done.
func contextError(ctx context.Context, step string) *failure {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrClosed) {
		return fail(ErrClosed, step, nil)
	}
	f := fail(ErrTimeout, step, cause)
	if err := ctx.Err(); !errors.Is(cause, err) {
		f.kinds = append(f.kinds, err)
	}
	return f
}

// registerMapper registers mapError with xerror, once per program.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError returns the code for clients: sending failed, and whether a retry may succeed.
func mapError(err error) *xerror.ErrorCode {
	var reply interface {
		error
		Temporary() bool
	}
	switch {
	case errors.Is(err, ErrMessage):
		return mapMessage(err)
	case errors.Is(err, ErrAuth), errors.Is(err, ErrTLS), errors.Is(err, ErrUncertain):
		return xerror.EmailError // precedes the codes of its cause
	case errors.Is(err, ErrClosed), errors.Is(err, ErrConnection):
		return xerror.ServiceUnavailable
	case errors.Is(err, context.Canceled):
		return nil // a canceled call has its own code
	case errors.Is(err, ErrTimeout):
		return xerror.ServiceUnavailable
	case isReply(err) && errors.As(err, &reply) && reply.Temporary():
		return xerror.ServiceUnavailable
	case isReply(err):
		return xerror.EmailError
	default:
		return nil
	}
}

// mapMessage distinguishes invalid input of a client from a faulty template of the
// service.
func mapMessage(err error) *xerror.ErrorCode {
	switch {
	case errors.Is(err, notifyx.ErrNoTemplate):
		return xerror.ConfigError
	case errors.Is(err, notifyx.ErrTemplate):
		return xerror.ServerInternalError
	default:
		return xerror.ParameterError
	}
}

// isReply reports whether err is a reply of the server.
func isReply(err error) bool {
	var one *SMTPError
	var several *RecipientsError
	return errors.As(err, &one) || errors.As(err, &several)
}
