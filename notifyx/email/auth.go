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

// mechanisms lists the supported AUTH mechanisms (RFC 4954), strongest first. Mechanisms
// with -PLUS are bound to the TLS connection.
var mechanisms = []string{
	"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "CRAM-MD5", "PLAIN",
	"LOGIN",
}

// auth returns the implementation of a mechanism.
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

// login authenticates with the strongest mechanism that both sides support. Without TLS
// it requires a loopback connection; see Config.checkLogin.
func (s *session) login(c Config) error {
	if c.User == "" {
		return nil
	}
	if c.TLS == tlsNone && !s.conn.local() {
		return fail(ErrTLS, stepAuth,
			errors.New("refusing to send the password unencrypted to a remote host"))
	}
	_, offered := s.client.Extension("AUTH")
	names := strings.Fields(strings.ToUpper(offered))
	state, encrypted := s.client.TLSConnectionState()
	for _, mechanism := range mechanisms {
		if !slices.Contains(names, mechanism) ||
			strings.HasSuffix(mechanism, "-PLUS") && !encrypted {
			continue
		}
		s.conn.startStep(c.CommandTimeout)
		if err := s.client.Auth(c.auth(mechanism, &state)); err != nil {
			return s.authError(mechanism, err)
		}
		return nil
	}
	return fail(ErrAuth, stepAuth, errors.New("server offers no supported mechanism"))
}

// authError returns an error without the text of the library, which may quote the server.
func (s *session) authError(mechanism string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) || s.conn.ctx.Err() != nil || isTimeout(err) || isDrop(err) ||
		errors.Is(err, errReplySize) {
		return s.stepError(stepAuth, err)
	}
	return fail(ErrAuth, stepAuth, fmt.Errorf("%s: invalid server response", mechanism))
}
