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

func TestEmailClient_STARTTLS(t *testing.T) {
	t.Run("fails if the server does not offer it", func(t *testing.T) {
		client, s := connect(t, func(s *server) { s.TLSConfig, s.AllowInsecureAuth = nil, true })
		err := client.Send(t.Context(), hello())
		if !errors.Is(err, email.ErrTLS) || errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("Send = %v, want ErrTLS and not ErrPermanent", err)
		}
		if _, n, _ := s.counts(); n != 0 || s.logins != 0 || s.mails != 0 {
			t.Errorf("%d messages, %d logins, %d MAIL", n, s.logins, s.mails)
		}
	})

	t.Run("sends no plain text after a failure", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			server *faultyServer
		}{
			{
				"it is stripped from EHLO",
				&faultyServer{replies: map[string]string{
					"EHLO": "250-test\r\n250 AUTH PLAIN LOGIN",
				}},
			},
			{"EHLO is unknown", &faultyServer{replies: map[string]string{"EHLO": "502 what"}}},
			{"rejected", &faultyServer{replies: map[string]string{"STAR": "502 no"}}},
			{
				"temporarily rejected",
				&faultyServer{replies: map[string]string{"STAR": "454 4.7.0 not now"}},
			},
			{
				"followed by plain text",
				&faultyServer{replies: map[string]string{
					"STAR": "220 go\r\n250-evil\r\n250 AUTH PLAIN",
				}},
			},
			{
				"plain text instead of the handshake",
				&faultyServer{tls: &tls.Config{MinVersion: tls.VersionTLS13}, drop: "tls"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := startFaultyServer(t, tc.server)
				err := newClient(t, config(s.port)).Send(t.Context(), hello())
				if !errors.Is(err, email.ErrTLS) {
					t.Errorf("Send = %v, want ErrTLS", err)
				}
				for _, forbidden := range []string{"AUTH", "MAIL", "RCPT", "DATA"} {
					if slices.Contains(s.commands(), forbidden) {
						t.Errorf("commands = %q", s.commands())
					}
				}
			})
		}
	})
}

func TestEmailClient_TLS(t *testing.T) {
	t.Run("rejects an invalid certificate", func(t *testing.T) {
		hour := time.Now().Add(time.Hour)
		for _, tc := range []struct {
			name   string
			server *tls.Config
		}{
			{"for another host", testCA().serve("mail.example.com", hour)},
			{"for another address", testCA().serve("127.0.0.2", hour)},
			{"expired", testCA().serve("127.0.0.1", time.Now().Add(-time.Minute))},
			{"from an unknown authority", newAuthority().serve("127.0.0.1", hour)},
			{"with TLS 1.1 only", oldTLS()},
		} {
			for _, mode := range []string{"starttls", "tls"} {
				t.Run(tc.name+", "+mode, func(t *testing.T) {
					s := startFaultyServer(t,
						&faultyServer{tls: tc.server, implicit: mode == "tls"})
					c := config(s.port)
					c.TLS = mode
					err := newClient(t, c).Send(t.Context(), hello())
					if !errors.Is(err, email.ErrTLS) || errors.Is(err, notifyx.ErrPermanent) {
						t.Errorf("Send = %v, want ErrTLS and not ErrPermanent", err)
					}
					if slices.Contains(s.commands(), "AUTH") ||
						slices.Contains(s.commands(), "MAIL") {
						t.Errorf("commands = %q", s.commands())
					}
				})
			}
		}
	})

	t.Run("encrypts from the first byte in implicit mode", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{implicit: true})
		c := config(s.port)
		c.TLS = "tls"
		if err := newClient(t, c).Send(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		if got := s.commands()[0]; got != "EHLO" || slices.Contains(s.commands(), "STAR") {
			t.Errorf("commands = %q", s.commands())
		}
	})

	t.Run("rejects a plain text server in implicit mode", func(t *testing.T) {
		s := startServer(t, nil)
		c := config(s.port)
		c.TLS = "tls"
		if err := newClient(t, c).Send(t.Context(), hello()); !errors.Is(err, email.ErrTLS) {
			t.Errorf("Send = %v, want ErrTLS", err)
		}
	})
}

func oldTLS() *tls.Config {
	c := hostTLS().Clone()
	c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	return c
}

func TestEmailClient_PlainText(t *testing.T) {
	s := startServer(t, func(s *server) { s.TLSConfig, s.AllowInsecureAuth = nil, true })
	c := config(s.port)
	c.TLS = "none"
	if err := newClient(t, c).Send(t.Context(), hello()); err != nil || s.logins != 1 {
		t.Errorf("Send = %v with %d logins: want one, over loopback", err, s.logins)
	}
	for _, host := range []string{
		"mail.example.com", "10.0.0.1", "localhost.example.com", "mail.localhost", "0.0.0.0",
	} {
		c.Host = host
		if _, err := email.New(c); err == nil || !strings.Contains(err.Error(), "EMAIL_TLS") {
			t.Errorf("New for %s = %v, want EMAIL_TLS in it", host, err)
		}
	}
}

func TestEmailClient_Send_InvalidServer(t *testing.T) {
	t.Run("fails for an endless reply", func(t *testing.T) {
		long := "250-" + strings.Repeat("x", 1000) + "\r\n"
		s := startFaultyServer(t, &faultyServer{replies: map[string]string{
			"EHLO": strings.Repeat(long, 400) + "250 STARTTLS",
		}})
		err := newClient(t, config(s.port)).Send(t.Context(), hello())
		if !errors.Is(err, email.ErrConnection) {
			t.Errorf("Send = %v, want ErrConnection", err)
		}
	})

	t.Run("fails for a server that does not speak SMTP", func(t *testing.T) {
		for _, greeting := range []string{
			"HTTP/1.1 400 Bad Request secret@example.com", "garbage", "250 wrong", "2200 x",
		} {
			s := startFaultyServer(t,
				&faultyServer{replies: map[string]string{"greeting": greeting}})
			err := newClient(t, config(s.port)).Send(t.Context(), hello())
			if !errors.Is(err, email.ErrConnection) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v, want ErrConnection without the server's text", greeting, err)
			}
		}
	})

	t.Run("fails without a server", func(t *testing.T) {
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
			t.Errorf("%d messages in the error, want 2: %v", got, err)
		}
	})
}

// capture returns the log output of the returned engine.
func capture(t *testing.T) (*bytes.Buffer, *xlog.Engine) {
	t.Helper()
	var log bytes.Buffer
	e, err := xlog.New(xlog.Config{Level: -8, Format: xlog.FormatJSON, Writer: &log})
	if err != nil {
		t.Fatal(err)
	}
	return &log, e
}
