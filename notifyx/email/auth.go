package email

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// mechanism is a way to log in (RFC 4954), and what starts it.
type mechanism struct {
	name  string
	start func(c Config, state *tls.ConnectionState) smtp.Auth
	bound bool // to the encrypted connection, so that it needs one
}

// mechanisms are those that are known, the strongest first.
func mechanisms() []mechanism {
	return []mechanism{
		{"SCRAM-SHA-256-PLUS", func(c Config, t *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA256PlusAuth(c.User, c.Pass, t) }, true},
		{"SCRAM-SHA-256", func(c Config, _ *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA256Auth(c.User, c.Pass) }, false},
		{"SCRAM-SHA-1-PLUS", func(c Config, t *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA1PlusAuth(c.User, c.Pass, t) }, true},
		{"SCRAM-SHA-1", func(c Config, _ *tls.ConnectionState) smtp.Auth { return smtp.ScramSHA1Auth(c.User, c.Pass) }, false},
		{"CRAM-MD5", func(c Config, _ *tls.ConnectionState) smtp.Auth { return smtp.CRAMMD5Auth(c.User, c.Pass) }, false},
		{"PLAIN", func(c Config, _ *tls.ConnectionState) smtp.Auth {
			return smtp.PlainAuth("", c.User, c.Pass, c.Host, true)
		}, false},
		{"LOGIN", func(c Config, _ *tls.ConnectionState) smtp.Auth { return smtp.LoginAuth(c.User, c.Pass, c.Host, true) }, false},
	}
}

// login logs in with the strongest mechanism that both sides know. In plain text it is only reached on the same machine: see
// Config.checkLogin.
func (s *session) login(c Config) error {
	if c.User == "" {
		return nil
	}
	if c.TLS == tlsNone && !s.conn.local() {
		return fail(ErrTLS, stepAuth, errors.New("the password would leave the machine in plain text"))
	}
	_, offered := s.client.Extension("AUTH")
	names := strings.Fields(strings.ToUpper(offered))
	state, encrypted := s.client.TLSConnectionState()
	for _, m := range mechanisms() {
		if !slices.Contains(names, m.name) || m.bound && !encrypted {
			continue
		}
		s.conn.begin(c.CommandTimeout)
		if err := s.client.Auth(m.start(c, &state)); err != nil {
			return s.wrongLogin(m.name, err)
		}
		return nil
	}
	return fail(ErrAuth, stepAuth, errors.New("the server offers no login that is known"))
}

// wrongLogin leaves out the library's text, which may hold the server's.
func (s *session) wrongLogin(mechanism string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) || s.conn.ctx.Err() != nil || isTimeout(err) || isDrop(err) || errors.Is(err, errAnswerSize) {
		return s.wrong(stepAuth, err)
	}
	return fail(ErrAuth, stepAuth, fmt.Errorf("%s: the server's answers do not fit", mechanism))
}
