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

// The errors that a caller may want to tell apart, with errors.Is. Of these only
// ErrMessage is also an notifyx.ErrPermanent, and not for a template that does not exist.
var (
	// ErrMessage reports a message that cannot be sent: wrong addresses, forged header
	// fields, no content, too large.
	ErrMessage = errors.New("email: the message cannot be sent")
	// ErrTLS reports that the connection could not be encrypted as it must be. Nothing
	// was sent over it, also no login.
	ErrTLS = errors.New("email: no encrypted connection")
	// ErrAuth reports that the server did not accept the login.
	ErrAuth = errors.New("email: the login failed")
	// ErrTimeout reports a server that took too long, or a context that ended first.
	ErrTimeout = errors.New("email: out of time")
	// ErrConnection reports a connection that could not be made, that broke, or whose
	// other side does not speak SMTP.
	ErrConnection = errors.New("email: the connection failed")
	// ErrUncertain reports that a message was sent completely and no answer came: the
	// server may have accepted it.
	ErrUncertain = errors.New("email: the message may have been accepted")
	// ErrClosed reports the use of a client after Close, or a message that was cut off by
	// it.
	ErrClosed = errors.New("email: the client is closed")
)

// The steps of a connection and of a message, as SMTPError has them.
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

// SMTPError is the answer of a server that refuses. Its text, which may hold addresses,
// is in ServerText and not in Error.
type SMTPError struct {
	// Step is the command that was refused, "greeting", or "content" for the message
	// itself.
	Step string
	// Code is the reply code, such as 550.
	Code int
	// EnhancedCode is the status code of RFC 3463, such as "5.1.1", or "".
	EnhancedCode string

	text string
}

// Error has the codes and the step.
func (e *SMTPError) Error() string {
	return "email: the server answered " + e.status() + " to " + e.Step
}

func (e *SMTPError) status() string {
	return strings.TrimSpace(fmt.Sprint(e.Code) + " " + e.EnhancedCode)
}

// Temporary reports whether trying again may help.
func (e *SMTPError) Temporary() bool { return e.Code >= 400 && e.Code < 500 }

// ServerText returns what the server wrote, "" at AUTH. It may hold addresses and links,
// and is written by somebody else.
func (e *SMTPError) ServerText() string { return e.text }

// Is reports what the answer means: ErrAuth, ErrTLS, or notifyx.ErrPermanent for a
// message that the server will never take. A login that is refused is not permanent, for
// the message can be sent once the configuration is mended.
func (e *SMTPError) Is(target error) bool {
	switch target {
	case ErrAuth:
		return e.isLogin()
	case ErrTLS:
		return e.Step == stepStartTLS
	case notifyx.ErrPermanent:
		return e.Code >= 500 && !e.isLogin() && e.isAboutMessage()
	default:
		return false
	}
}

// isLogin reports an answer about who sends (RFC 4954, 6), also where it comes at MAIL.
func (e *SMTPError) isLogin() bool {
	return e.Step == stepAuth || slices.Contains([]int{530, 534, 535, 538}, e.Code)
}

func (e *SMTPError) isAboutMessage() bool {
	return slices.Contains([]string{stepMail, stepRcpt, stepData, stepContent}, e.Step)
}

// newSMTPError takes the enhanced code out of the text.
func newSMTPError(step string, reply *textproto.Error) *SMTPError {
	e := &SMTPError{Step: step, Code: reply.Code}
	if step != stepAuth { // the text of a login could hold the password
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

// RecipientsError reports the recipients that the server refused; nobody got the message.
// Its text has no address.
type RecipientsError struct {
	// Refused has the server's answer for each recipient that was refused.
	Refused map[string]*SMTPError
	// Accepted are those that the server would have taken.
	Accepted []string
}

// Error has the numbers and the codes.
func (e *RecipientsError) Error() string {
	codes := map[string]bool{}
	for _, reply := range e.Refused {
		codes[reply.status()] = true
	}
	return fmt.Sprintf("email: the server refused %d of %d recipients (%s): nobody got the message",
		len(e.Refused), len(e.Refused)+len(e.Accepted),
		strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
}

// Temporary reports whether trying again may help: all refusals are for the moment.
func (e *RecipientsError) Temporary() bool {
	for _, reply := range e.Refused {
		if !reply.Temporary() {
			return false
		}
	}
	return true
}

// Is reports notifyx.ErrPermanent where trying again is useless.
func (e *RecipientsError) Is(target error) bool {
	return target == notifyx.ErrPermanent && !e.Temporary()
}

// Unwrap returns the server's answers.
func (e *RecipientsError) Unwrap() []error {
	out := make([]error, 0, len(e.Refused))
	for _, reply := range e.Refused {
		out = append(out, reply)
	}
	return out
}

// failure is an error with what it counts as.
type failure struct {
	kinds []error
	step  string
	cause error
}

// fail returns kind, the step at which it happened and its cause, which may be nil.
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

// refuse returns the ErrMessage for what is wrong with a message, which is one of notifyx
// as well. A template is a part of the service: its errors are their own, and one that is
// not there may be there in a later version.
func refuse(cause error) error {
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

// ended returns the error for a context that has ended at a step.
func ended(ctx context.Context, step string) *failure {
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

// registerMapper tells xerror about the errors of mail, once a program has a client.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError says what a client of the service learns: that mail failed, and whether trying
// again may help.
func mapError(err error) *xerror.ErrorCode {
	var reply interface {
		error
		Temporary() bool
	}
	switch {
	case errors.Is(err, ErrMessage):
		return mapMessage(err)
	case errors.Is(err, ErrAuth), errors.Is(err, ErrTLS), errors.Is(err, ErrUncertain):
		return xerror.EmailError // before the reasons that they may have
	case errors.Is(err, ErrClosed), errors.Is(err, ErrConnection):
		return xerror.ServiceUnavailable
	case errors.Is(err, context.Canceled):
		return nil // the caller's own end has its own code
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

// mapMessage tells a message that a client may have made wrong from a template that the
// service has.
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

// isReply reports whether err is a server's answer.
func isReply(err error) bool {
	var one *SMTPError
	var several *RecipientsError
	return errors.As(err, &one) || errors.As(err, &several)
}
