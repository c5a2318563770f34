package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/textproto"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// quitTimeout limits QUIT.
const quitTimeout = 2 * time.Second

var (
	errDropped      = errors.New("server closed the connection")
	errInvalidReply = errors.New("the reply is not valid SMTP")
	errInjected     = errors.New("plain text after the reply to STARTTLS")
	errNotTLS       = errors.New("server does not offer STARTTLS")
)

// session is an encrypted and authenticated connection.
type session struct {
	conn   *limitedConn
	client *smtp.Client
	used   int         // messages started
	idle   *time.Timer // fires after IdleTimeout
}

// open connects, encrypts and authenticates.
func (c *EmailClient) open(ctx context.Context) (*session, error) {
	dialing, cancel := context.WithTimeout(ctx, c.config.DialTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(dialing, "tcp",
		net.JoinHostPort(c.config.Host, strconv.Itoa(c.config.Port)))
	if err != nil {
		return nil, dialError(ctx, err)
	}
	s := &session{conn: &limitedConn{Conn: raw}}
	s.conn.bind(ctx)
	if err := s.greet(ctx, *c.config); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func dialError(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the timer of the dialer may fire first
	}
	if ctx.Err() != nil {
		return contextError(ctx, stepConnect)
	}
	f := fail(ErrConnection, stepConnect, err)
	if isTimeout(err) {
		f.kinds = []error{ErrTimeout, ErrConnection}
	}
	return f
}

// greet performs the handshake, the greeting and the login.
func (s *session) greet(ctx context.Context, c Config) error {
	var conn net.Conn = s.conn
	if c.TLS == tlsImplicit {
		s.conn.startStep(c.DialTimeout)
		encrypted := tls.Client(s.conn, c.tls())
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return s.tlsError(stepTLS, err)
		}
		conn = encrypted
	}
	s.conn.startStep(c.CommandTimeout)
	var err error
	if s.client, err = smtp.NewClient(conn, c.Host); err != nil {
		return s.stepError(stepGreeting, err)
	}
	s.conn.startStep(c.CommandTimeout)
	if err := s.client.Hello(c.LocalName); err != nil {
		return s.stepError(stepHello, err)
	}
	if c.TLS == tlsStartTLS {
		if err := s.startTLS(c); err != nil {
			return err
		}
	}
	return s.login(c)
}

// tls returns the TLS configuration.
func (c Config) tls() *tls.Config {
	return &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs}
}

// startTLS encrypts the connection. It discards capabilities announced before, and
// rejects plain text after the reply, which an attacker could have injected.
func (s *session) startTLS(c Config) error {
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		return fail(ErrTLS, stepStartTLS, errNotTLS)
	}
	plain := s.client.Text
	s.conn.startStep(c.CommandTimeout)
	if err := s.client.StartTLS(c.tls()); err != nil {
		return s.tlsError(stepStartTLS, err)
	}
	if plain.R.Buffered() > 0 {
		return fail(ErrTLS, stepStartTLS, errInjected)
	}
	return nil
}

// close closes the connection without QUIT.
func (s *session) close() { _ = s.conn.Close() } // the message is already sent or failed

// quit closes the connection with QUIT, within quitTimeout.
func (s *session) quit(ctx context.Context) {
	s.conn.bind(ctx)
	s.conn.startStep(quitTimeout)
	_ = s.client.Quit() // the reply is irrelevant
	s.close()
}

// reset aborts the current mail transaction.
func (s *session) reset(c Config) error {
	s.conn.startStep(c.CommandTimeout)
	if err := s.client.Reset(); err != nil {
		return s.stepError(stepReset, err)
	}
	return nil
}

// stepError converts an error of a step. Only SMTPError contains text of the server.
func (s *session) stepError(step string, err error) error {
	var reply *textproto.Error
	switch {
	case errors.As(err, &reply) && reply.Code >= 400 && reply.Code < 600:
		if step == stepNoop && reply.Code == codeClosing {
			return fail(ErrConnection, step, errDropped) // closed while idle
		}
		return newSMTPError(step, reply)
	case s.conn.ctx.Err() != nil:
		return contextError(s.conn.ctx, step)
	case isTimeout(err):
		return fail(ErrTimeout, step, nil)
	case errors.Is(err, errReplySize):
		return fail(ErrConnection, step, errReplySize)
	case isDrop(err):
		return fail(ErrConnection, step, errDropped)
	default:
		return fail(ErrConnection, step, errInvalidReply)
	}
}

// codeClosing is the reply of a server that closes the connection (RFC 5321, section
// 3.8).
const codeClosing = 421

// tlsError is like stepError for steps that establish encryption. The result is always an
// ErrTLS.
func (s *session) tlsError(step string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return s.stepError(step, err)
	}
	if isTLS(err) && s.conn.ctx.Err() == nil {
		return fail(ErrTLS, step, err)
	}
	return fail(ErrTLS, step, s.stepError(step, err))
}

// isTLS reports whether err is an error of crypto/tls or crypto/x509. Their messages
// contain hosts, dates and versions only.
func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		alert        tls.AlertError
		authority    x509.UnknownAuthorityError
		op           *net.OpError
	)
	return errors.As(err, &verification) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// isDrop reports whether the server closed the connection.
func isDrop(err error) bool {
	for _, target := range []error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
		net.ErrClosed,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
