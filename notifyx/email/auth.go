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

// mechanisms are the ways to log in that are known (RFC 4954), the strongest first. Those
// with -PLUS are bound to the encrypted connection.
var mechanisms = []string{
	"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "CRAM-MD5", "PLAIN",
	"LOGIN",
}

// auth starts a mechanism.
func (c Config) auth(mechanism string, state *tls.ConnectionState) smtp.Auth {
	switch mechanism {
	case "SCRAM-SHA-256-PLUS":
		return smtp.ScramSHA256PlusAuth(c.User, c.Pass, state)
	case "SCRAM-SHA-256":
		return smtp.ScramSHA256Auth(c.User, c.Pass)
	case "SCRAM-SHA-1-PLUS":
		return smtp.ScramSHA1PlusAuth(c.User, c.Pass, state)
	case "SCRAM-SHA-1":
		return smtp.ScramSHA1Auth(c.User, c.Pass)
	case "CRAM-MD5":
		return smtp.CRAMMD5Auth(c.User, c.Pass)
	case "PLAIN":
		return smtp.PlainAuth("", c.User, c.Pass, c.Host, true)
	default:
		return smtp.LoginAuth(c.User, c.Pass, c.Host, true)
	}
}

// login logs in with the strongest mechanism that both sides know. In plain text it is
// only reached on the same machine: see Config.checkLogin.
func (s *session) login(c Config) error {
	if c.User == "" {
		return nil
	}
	if c.TLS == tlsNone && !s.conn.local() {
		return fail(ErrTLS, stepAuth,
			errors.New("the password would leave the machine in plain text"))
	}
	_, offered := s.client.Extension("AUTH")
	names := strings.Fields(strings.ToUpper(offered))
	state, encrypted := s.client.TLSConnectionState()
	for _, mechanism := range mechanisms {
		if !slices.Contains(names, mechanism) || strings.HasSuffix(mechanism, "-PLUS") &&
			!encrypted {
			continue
		}
		s.conn.begin(c.CommandTimeout)
		if err := s.client.Auth(c.auth(mechanism, &state)); err != nil {
			return s.wrongLogin(mechanism, err)
		}
		return nil
	}
	return fail(ErrAuth, stepAuth, errors.New("the server offers no login that is known"))
}

// wrongLogin leaves out the library's text, which may hold the server's.
func (s *session) wrongLogin(mechanism string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) || s.conn.ctx.Err() != nil || isTimeout(err) || isDrop(err) ||
		errors.Is(err, errAnswerSize) {
		return s.wrong(stepAuth, err)
	}
	return fail(ErrAuth, stepAuth, fmt.Errorf("%s: the server's answers do not fit", mechanism))
}
