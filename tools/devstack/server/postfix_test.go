package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/server"
)

// postfix has the parts of the URL of a running server.
type postfix struct{ address, maildir, ca string }

func startPostfix(t *testing.T) (s *server.Server, p postfix) {
	t.Helper()
	s = start(t, newGroup(t), "postfix")
	u, err := url.Parse(s.DSN())
	if err != nil || u.Scheme != "smtp" || u.Host != s.Address() {
		t.Fatalf("URL = %q, %v", s.DSN(), err)
	}
	return s, postfix{address: u.Host, maildir: u.Query().Get("maildir"), ca: u.Query().Get("ca")}
}

// connect starts an encrypted session.
func (p postfix) connect(t *testing.T) *smtp.Client {
	t.Helper()
	pem, err := os.ReadFile(p.ca)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("CA: %v", err)
	}
	c, err := smtp.NewClient(dial(t, p.address), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.StartTLS(&tls.Config{
		RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12,
	}); err != nil {
		t.Fatalf("STARTTLS = %v", err)
	}
	return c
}

// send sends a mail and fails the test if a recipient is rejected.
func send(t *testing.T, c *smtp.Client, text string, to ...string) {
	t.Helper()
	err := c.Mail("sender@example.org")
	for _, address := range to {
		err = errors.Join(err, c.Rcpt(address))
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte("Subject: a test\r\n\r\n" + text + "\r\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitForMails waits for the given number of mails in the Maildir and returns them.
func (p postfix) waitForMails(t *testing.T, want int) []string {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(20 * time.Second); ; {
		names, err := filepath.Glob(filepath.Join(p.maildir, "new", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) >= want {
			var texts []string
			for _, name := range names {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(text))
			}
			return texts
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("%d mails arrived, want %d", len(names), want)
		}
	}
}

func TestPostfix_Delivery(t *testing.T) {
	s, p := startPostfix(t)
	for _, name := range []string{"new", "cur", "tmp"} {
		if _, err := os.Stat(filepath.Join(p.maildir, name)); err != nil {
			t.Error(err)
		}
	}
	c := p.connect(t)
	for _, extension := range []string{"SIZE", "8BITMIME", "PIPELINING", "ENHANCEDSTATUSCODES"} {
		if ok, _ := c.Extension(extension); !ok {
			t.Errorf("missing extension %s", extension)
		}
	}
	to := []string{
		"one@example.com", "two@nowhere.invalid", "three@localhost", "four@[127.0.0.1]",
		"five@[192.0.2.1]",
	}
	send(t, c, "Some text.", to...)
	mails := strings.Join(p.waitForMails(t, len(to)), "\n")
	for _, address := range to {
		if !strings.Contains(mails, "Delivered-To: "+address) {
			t.Errorf("no mail to %s", address)
		}
	}
	if got := strings.Count(mails, "Some text."); got != len(to) {
		t.Errorf("text occurs %d times, want %d", got, len(to))
	}
	if !strings.HasPrefix(s.Version(), "Postfix ") {
		t.Errorf("version = %q", s.Version())
	}
}

func TestPostfix_Rejection(t *testing.T) {
	_, p := startPostfix(t)
	c := p.connect(t)
	if err := c.Mail("sender@example.org"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, to string
		code     int
		want     string
	}{
		{
			name: "permanent",
			to:   "reject5@example.com", code: 550, want: "5.1.1 <reject5@example.com>",
		},
		{
			name: "temporary",
			to:   "reject4@other.example", code: 450, want: "4.2.1 <reject4@other.example>",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			response := (*textproto.Error)(nil)
			if err := c.Rcpt(tc.to); !errors.As(err, &response) || response.Code != tc.code ||
				!strings.Contains(response.Msg, tc.want) {
				t.Errorf("RCPT = %v, want %d %s", err, tc.code, tc.want)
			}
		})
	}
	if err := c.Rcpt("user@example.com"); err != nil {
		t.Errorf("RCPT after rejected recipients = %v", err)
	}
}

func TestPostfix_Loopback(t *testing.T) {
	_, p := startPostfix(t)
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok || network.IP.IsLinkLocalUnicast() || network.IP.String() == "127.0.0.1" {
			continue
		}
		if !isClosed(t, net.JoinHostPort(network.IP.String(), port)) {
			t.Errorf("the server responds at %s", network.IP)
		}
	}
}

func TestPostfix_Kill(t *testing.T) {
	s, p := startPostfix(t)
	send(t, p.connect(t), "before", "user@example.com")
	p.waitForMails(t, 1)
	if err := errors.Join(s.Kill(t.Context()), s.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	send(t, p.connect(t), "after", "user@example.com")
	p.waitForMails(t, 2)
}

// processesUsing returns the processes whose command line or environment contains the
// directory.
func processesUsing(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	for _, what := range []string{"cmdline", "environ"} {
		files, err := filepath.Glob(filepath.Join("/proc/[0-9]*", what))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(folder)) {
				found = append(found, file)
			}
		}
	}
	return found
}

func TestPostfix_Cleanup(t *testing.T) {
	s, p := startPostfix(t)
	c := p.connect(t)
	send(t, c, "a mail", "user@example.com")
	p.waitForMails(t, 1)
	folder := filepath.Dir(p.maildir)
	if len(processesUsing(t, folder)) == 0 {
		t.Fatal("no process uses the directory")
	}
	if err := s.Stop(t.Context()); err != nil { // with an open session
		t.Fatal(err)
	}
	if remaining := processesUsing(t, folder); len(remaining) > 0 {
		t.Errorf("processes after Stop: %q", remaining)
	}
	if err := errors.Join(s.Start(t.Context()), s.Delete(t.Context())); err != nil {
		t.Fatal(err)
	}
	if remaining := processesUsing(t, folder); len(remaining) > 0 || !isClosed(t, p.address) {
		t.Errorf("processes after Delete: %q", remaining)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory still exists: %v", err)
	}
}
