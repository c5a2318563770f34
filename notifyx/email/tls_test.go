package email_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

func TestAServerWithoutSTARTTLSIsRefused(t *testing.T) {
	client, s := connect(t, func(s *server) { s.TLSConfig, s.AllowInsecureAuth = nil, true })
	err := client.Send(t.Context(), hello())
	if !errors.Is(err, email.ErrTLS) || errors.Is(err, notifyx.ErrPermanent) {
		t.Errorf("Send = %v, want ErrTLS and not ErrPermanent", err)
	}
	if _, n, _ := s.counts(); n != 0 || s.logins != 0 || s.mails != 0 {
		t.Errorf("%d messages, %d logins, %d MAIL", n, s.logins, s.mails)
	}
}

func TestNothingIsSaidInPlainTextWhereSTARTTLSFails(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server *crude
	}{
		{
			"it is stripped from EHLO",
			&crude{answers: map[string]string{"EHLO": "250-crude\r\n250 AUTH PLAIN LOGIN"}},
		},
		{"EHLO is unknown", &crude{answers: map[string]string{"EHLO": "502 what"}}},
		{"it is refused", &crude{answers: map[string]string{"STAR": "502 no"}}},
		{
			"it is refused for the moment",
			&crude{answers: map[string]string{"STAR": "454 4.7.0 not now"}},
		},
		{
			"plain text follows it",
			&crude{answers: map[string]string{"STAR": "220 go\r\n250-evil\r\n250 AUTH PLAIN"}},
		},
		{
			"plain text comes instead of the handshake",
			&crude{tls: &tls.Config{MinVersion: tls.VersionTLS13}, drop: "tls"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := startCrude(t, tc.server)
			err := newClient(t, config(s.port)).Send(t.Context(), hello())
			if !errors.Is(err, email.ErrTLS) {
				t.Errorf("Send = %v, want ErrTLS", err)
			}
			for _, forbidden := range []string{"AUTH", "MAIL", "RCPT", "DATA"} {
				if slices.Contains(s.commands(), forbidden) {
					t.Errorf("commands were %q", s.commands())
				}
			}
		})
	}
}

func TestACertificateThatDoesNotFitIsRefused(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	for _, tc := range []struct {
		name   string
		server *tls.Config
	}{
		{"for another host", testCA().serve("mail.example.com", hour)},
		{"for another address", testCA().serve("127.0.0.2", hour)},
		{"expired", testCA().serve("127.0.0.1", time.Now().Add(-time.Minute))},
		{"of an unknown authority", newAuthority().serve("127.0.0.1", hour)},
		{"with TLS 1.1 only", oldTLS()},
	} {
		for _, mode := range []string{"starttls", "tls"} {
			t.Run(tc.name+", "+mode, func(t *testing.T) {
				s := startCrude(t, &crude{tls: tc.server, implicit: mode == "tls"})
				c := config(s.port)
				c.TLS = mode
				err := newClient(t, c).Send(t.Context(), hello())
				if !errors.Is(err, email.ErrTLS) || errors.Is(err, notifyx.ErrPermanent) {
					t.Errorf("Send = %v, want ErrTLS and not ErrPermanent", err)
				}
				if slices.Contains(s.commands(), "AUTH") || slices.Contains(s.commands(), "MAIL") {
					t.Errorf("commands were %q", s.commands())
				}
			})
		}
	}
}

func oldTLS() *tls.Config {
	c := hostTLS().Clone()
	c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	return c
}

func TestImplicitTLSIsEncryptedFromTheFirstByte(t *testing.T) {
	s := startCrude(t, &crude{implicit: true})
	c := config(s.port)
	c.TLS = "tls"
	if err := newClient(t, c).Send(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if got := s.commands()[0]; got != "EHLO" || slices.Contains(s.commands(), "STAR") {
		t.Errorf("commands were %q", s.commands())
	}
}

func TestImplicitTLSRefusesAServerInPlainText(t *testing.T) {
	s := startServer(t, nil)
	c := config(s.port)
	c.TLS = "tls"
	if err := newClient(t, c).Send(t.Context(), hello()); !errors.Is(err, email.ErrTLS) {
		t.Errorf("Send = %v, want ErrTLS", err)
	}
}

func TestPlainTextIsSentOnlyWhereItIsAskedFor(t *testing.T) {
	s := startServer(t, func(s *server) { s.TLSConfig, s.AllowInsecureAuth = nil, true })
	c := config(s.port)
	c.TLS = "none"
	if err := newClient(t, c).Send(t.Context(), hello()); err != nil || s.logins != 1 {
		t.Errorf("Send = %v with %d logins: want one, on the same machine", err, s.logins)
	}
	for _, host := range []string{
		"mail.example.com", "10.0.0.1", "localhost.example.com",
		"mail.localhost", "0.0.0.0",
	} {
		c.Host = host
		if _, err := email.New(c); err == nil || !strings.Contains(err.Error(), "EMAIL_TLS") {
			t.Errorf("New for %s = %v, want one that names EMAIL_TLS", host, err)
		}
	}
}

func TestAServerThatAnswersWithoutEndIsLeft(t *testing.T) {
	long := "250-" + strings.Repeat("x", 1000) + "\r\n"
	s := startCrude(t, &crude{answers: map[string]string{"EHLO": strings.Repeat(long, 400) +
		"250 STARTTLS"}})
	if err := newClient(t, config(s.port)).Send(t.Context(), hello()); !errors.Is(err,
		email.ErrConnection) {
		t.Errorf("Send = %v, want ErrConnection", err)
	}
}

func TestAServerThatSpeaksNoSMTPIsAConnectionError(t *testing.T) {
	for _, greeting := range []string{
		"HTTP/1.1 400 Bad Request secret@example.com", "garbage",
		"250 wrong", "2200 x",
	} {
		s := startCrude(t, &crude{answers: map[string]string{"greeting": greeting}})
		err := newClient(t, config(s.port)).Send(t.Context(), hello())
		if !errors.Is(err, email.ErrConnection) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want ErrConnection without the server's text", greeting, err)
		}
	}
}

func TestNoServerIsAConnectionError(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	err = newClient(t, config(port)).Send(t.Context(), hello(), hello())
	if !errors.Is(err, email.ErrConnection) || errors.Is(err, notifyx.ErrPermanent) {
		t.Errorf("Send = %v, want ErrConnection", err)
	}
	if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceUnavailable {
		t.Errorf("code = %v", code.GetOutput())
	}
	if got := strings.Count(err.Error(), "message "); got != 2 {
		t.Errorf("%d messages are reported, want both: %v", got, err)
	}
}

// capture returns what is logged under the returned context.
func capture(t *testing.T) (*bytes.Buffer, *xlog.Engine) {
	t.Helper()
	var log bytes.Buffer
	e, err := xlog.New(xlog.Config{Level: -8, Format: xlog.FormatJSON, Writer: &log})
	if err != nil {
		t.Fatal(err)
	}
	return &log, e
}
