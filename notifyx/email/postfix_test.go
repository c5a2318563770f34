package email_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// smtpURL names a Postfix server: smtp://HOST:PORT?maildir=DIRECTORY&ca=FILE.
const smtpURL = xenv.EnvKey("PLINTH_TEST_SMTP_URL")

// postfix returns the configuration of a Postfix server and its mail directory.
func postfix(t *testing.T) (c email.Config, maildir string) {
	t.Helper()
	run := &testreport.Run{Family: "mail", Backend: "postfix", Source: "nothing", Tests: 1}
	testreport.Record(t, run)
	text, set := xenv.GetEnv(smtpURL)
	if !set {
		run.Reason = smtpURL.String() + " is not set"
		t.Skipf("set %s=smtp://HOST:PORT?maildir=DIRECTORY&ca=FILE to test against a Postfix that delivers to DIRECTORY/new", smtpURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", smtpURL, err)
	}
	c = config(0)
	c.Host, c.User, c.Pass = u.Hostname(), "", ""
	if c.Port, err = strconv.Atoi(u.Port()); err != nil {
		t.Fatalf("%s has no port", smtpURL)
	}
	run.Source, run.Server = xenv.GetEnvString("PLINTH_TEST_SMTP_SOURCE", smtpURL.String()),
		banner(t, u.Host)
	c.TLS = "none"
	if file := u.Query().Get("ca"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c.TLS, c.RootCAs = "starttls", x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			t.Fatalf("%s has no certificate", file)
		}
	}
	return c, u.Query().Get("maildir")
}

// banner returns the greeting of the server without its code.
func banner(t *testing.T, address string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	greeting, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(strings.TrimSpace(greeting), " ESMTP ")
	return name
}

// delivered waits for the message with a Message-ID.
func delivered(t *testing.T, maildir, id string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		files, err := filepath.Glob(filepath.Join(maildir, "new", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte(id)) {
				return data
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("no message with %s in %s", id, maildir)
		}
	}
}

func TestPostfix(t *testing.T) {
	t.Run("delivers every part", func(t *testing.T) {
		c, maildir := postfix(t)
		client := newClient(t, c)
		id := strconv.FormatInt(time.Now().UnixNano(), 36)
		m := &email.Message{
			ID: id, To: []string{email.Address("王小明", "user@example.com")},
			Bcc: []string{"hidden@example.com"}, Subject: "您的订单 " + id,
			Text: "您好\n.\n..dot", HTML: `<p>您好</p><img src="cid:logo">`,
			Inlines: []email.File{{
				Name: "logo.png", ContentID: "logo", Content: []byte{0x89, 'P', 'N', 'G'},
			}},
			Attachments: []email.File{{
				Name:    "发票.pdf",
				Content: bytes.Repeat([]byte("pdf"), 100_000),
			}},
		}
		for range 2 { // the second time over the same connection
			if err := client.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		data := delivered(t, maildir, id)
		header, root := parse(t, data)
		if subject, err := header.Text("Subject"); err != nil || subject != m.Subject {
			t.Errorf("Subject = %q, %v", subject, err)
		}
		head, _, _ := strings.Cut(string(data), "\nContent-Type")
		if strings.Contains(strings.ToLower(head), "\nbcc:") {
			t.Errorf("the message contains Bcc:\n%s", head)
		}
		var kinds []string
		var visit func(p part)
		visit = func(p part) {
			kinds = append(kinds, p.Type)
			for _, sub := range p.Parts {
				visit(sub)
			}
		}
		visit(root)
		want := []string{
			"multipart/mixed", "multipart/related", "multipart/alternative", "text/plain",
			"text/html", "image/png", "application/pdf",
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Fatalf("parts (-want +got):\n%s", diff)
		}
		text := root.Parts[0].Parts[0].Parts[0].Body
		if strings.ReplaceAll(text, "\r\n", "\n") != m.Text {
			t.Errorf("text = %q", text)
		}
		if last := root.Parts[1]; last.FileName != "发票.pdf" ||
			last.Body != string(m.Attachments[0].Content) {
			t.Errorf("attachment %q has %d bytes", last.FileName, len(last.Body))
		}
	})

	t.Run("fails with ErrTLS for an untrusted certificate", func(t *testing.T) {
		c, _ := postfix(t)
		if c.TLS != "starttls" {
			t.Skipf("set ca=FILE in %s to test the certificate", smtpURL)
		}
		c.RootCAs = testCA().pool
		if err := newClient(t, c).Send(t.Context(), hello()); !errors.Is(err, email.ErrTLS) {
			t.Errorf("Send = %v, want ErrTLS", err)
		}
	})

	t.Run("rejects a recipient", func(t *testing.T) {
		c, _ := postfix(t)
		c.Tries = 2
		client := newClient(t, c)
		for address, want := range map[string]struct {
			code      int
			enhanced  string
			permanent bool
		}{
			"reject5@example.com": {550, "5.1.1", true},
			"reject4@example.com": {450, "4.2.1", false},
		} {
			err := client.Send(t.Context(), hello("user@example.com", address))
			if err == nil {
				t.Skipf("this server accepts mail for %s: use the Postfix of the development stack",
					address)
			}
			var rejected *email.RecipientsError
			if !errors.As(err, &rejected) || len(rejected.Rejected) != 1 ||
				rejected.Rejected[address] == nil {
				t.Fatalf("Send = %v, want a RecipientsError about %s", err, address)
			}
			got := rejected.Rejected[address]
			if got.Code != want.code || got.EnhancedCode != want.enhanced ||
				errors.Is(err, notifyx.ErrPermanent) != want.permanent {
				t.Errorf("%s: %v with %q", address, err, got.EnhancedCode)
			}
		}
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Errorf("next message: %v", err)
		}
	})
}
