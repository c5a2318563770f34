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

// quitTimeout bounds the goodbye to a server, which nothing depends on.
const quitTimeout = 2 * time.Second

var (
	errDropped  = errors.New("the server closed the connection")
	errGarbage  = errors.New("the answer is not one of SMTP")
	errInjected = errors.New("plain text followed the answer to STARTTLS")
	errNotTLS   = errors.New("the server does not offer STARTTLS")
)

// session is a connection to the server, encrypted and logged in as it must be.
type session struct {
	conn   *guard
	client *smtp.Client
	used   int         // messages that were begun
	idle   *time.Timer // ends the wait for the next one
}

// open connects, encrypts and logs in.
func (c *EmailClient) open(ctx context.Context) (*session, error) {
	dialing, cancel := context.WithTimeout(ctx, c.config.DialTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(dialing, "tcp",
		net.JoinHostPort(c.config.Host, strconv.Itoa(c.config.Port)))
	if err != nil {
		return nil, dialError(ctx, err)
	}
	s := &session{conn: &guard{Conn: raw}}
	s.conn.bind(ctx)
	if err := s.greet(ctx, *c.config); err != nil {
		s.cut()
		return nil, err
	}
	return s, nil
}

func dialError(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the dialer has a timer of its own, which may be the first
	}
	if ctx.Err() != nil {
		return ended(ctx, stepConnect)
	}
	f := fail(ErrConnection, stepConnect, err)
	if isTimeout(err) {
		f.kinds = []error{ErrTimeout, ErrConnection}
	}
	return f
}

// greet takes the connection from its first byte to the end of the login.
func (s *session) greet(ctx context.Context, c Config) error {
	var conn net.Conn = s.conn
	if c.TLS == tlsImplicit {
		s.conn.begin(c.DialTimeout)
		encrypted := tls.Client(s.conn, c.tls())
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return s.wrongTLS(stepTLS, err)
		}
		conn = encrypted
	}
	s.conn.begin(c.CommandTimeout)
	var err error
	if s.client, err = smtp.NewClient(conn, c.Host); err != nil {
		return s.wrong(stepGreeting, err)
	}
	s.conn.begin(c.CommandTimeout)
	if err := s.client.Hello(c.LocalName); err != nil {
		return s.wrong(stepHello, err)
	}
	if c.TLS == tlsStartTLS {
		if err := s.startTLS(c); err != nil {
			return err
		}
	}
	return s.login(c)
}

// tls returns what the server must prove.
func (c Config) tls() *tls.Config {
	return &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs}
}

// startTLS encrypts the connection. What the server said before is forgotten; what it
// said behind its answer, where somebody else could have put it in, is refused.
func (s *session) startTLS(c Config) error {
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		return fail(ErrTLS, stepStartTLS, errNotTLS)
	}
	plain := s.client.Text
	s.conn.begin(c.CommandTimeout)
	if err := s.client.StartTLS(c.tls()); err != nil {
		return s.wrongTLS(stepStartTLS, err)
	}
	if plain.R.Buffered() > 0 {
		return fail(ErrTLS, stepStartTLS, errInjected)
	}
	return nil
}

// cut closes the connection without a word.
func (s *session) cut() { _ = s.conn.Close() } // nothing is lost that was not lost before

// quit says goodbye within quitTimeout.
func (s *session) quit(ctx context.Context) {
	s.conn.bind(ctx)
	s.conn.begin(quitTimeout)
	_ = s.client.Quit() // whoever does not answer is left
	s.cut()
}

// reset ends what was begun on the connection.
func (s *session) reset(c Config) error {
	s.conn.begin(c.CommandTimeout)
	if err := s.client.Reset(); err != nil {
		return s.wrong(stepReset, err)
	}
	return nil
}

// wrong returns the error for what went wrong at a step. The server's text is in no error
// but SMTPError.
func (s *session) wrong(step string, err error) error {
	var reply *textproto.Error
	switch {
	case errors.As(err, &reply) && reply.Code >= 400 && reply.Code < 600:
		if step == stepNoop && reply.Code == codeClosing {
			return fail(ErrConnection, step, errDropped) // it has not waited for the next message
		}
		return newSMTPError(step, reply)
	case s.conn.ctx.Err() != nil:
		return ended(s.conn.ctx, step)
	case isTimeout(err):
		return fail(ErrTimeout, step, nil)
	case errors.Is(err, errAnswerSize):
		return fail(ErrConnection, step, errAnswerSize)
	case isDrop(err):
		return fail(ErrConnection, step, errDropped)
	default:
		return fail(ErrConnection, step, errGarbage)
	}
}

// codeClosing is the answer of a server that is about to close the connection (RFC 5321,
// 3.8).
const codeClosing = 421

// wrongTLS is wrong for what must end in an encrypted connection: it is always an ErrTLS
// as well.
func (s *session) wrongTLS(step string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return s.wrong(step, err)
	}
	if isTLS(err) && s.conn.ctx.Err() == nil {
		return fail(ErrTLS, step, err)
	}
	return fail(ErrTLS, step, s.wrong(step, err))
}

// isTLS reports an error of crypto/tls or crypto/x509, whose text names hosts, dates and
// versions only.
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

// isDrop reports a connection that the other side has ended.
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
