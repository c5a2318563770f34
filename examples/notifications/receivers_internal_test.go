//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/plinthgo/plinth/examples/notifications/internal/sink"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// gate lets everybody pass, or nobody.
type gate struct{ closed atomic.Bool }

// mailbox is a mail server outside of the service.
type mailbox struct {
	gate

	mails chan sink.Mail // what arrived, also what is then held or refused
	kept  []sink.Mail    // what arrived for others while next waited
	hold  chan struct{}  // what the server waits for before it answers; nil is nothing
	env   []string
}

// openMailbox starts a server. With hold it does not answer to mails until the test
// closes hold.
func openMailbox(t *testing.T, hold chan struct{}) *mailbox {
	t.Helper()
	b := &mailbox{mails: make(chan sink.Mail, 1000), hold: hold}
	server, err := sink.Listen(t.Context(), func(m sink.Mail) error {
		b.mails <- m
		if b.hold != nil {
			<-b.hold
		}
		if b.closed.Load() {
			return &smtp.SMTPError{
				Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0},
				Message: "not now, " + m.To[0],
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	b.env = []string{
		"EMAIL_HOST=" + server.Host(), "EMAIL_PORT=" + strconv.Itoa(server.Port()),
		"EMAIL_TLS=none", "EMAIL_FROM=shop@example.org",
	}
	return b
}

// next returns the next mail to an address. Mails to others are kept for the calls that
// ask for them: the mails of two jobs arrive in any order.
func (b *mailbox) next(t *testing.T, address string) sink.Mail {
	t.Helper()
	to := func(m sink.Mail) bool { return slices.Equal(m.To, []string{address}) }
	if i := slices.IndexFunc(b.kept, to); i >= 0 {
		m := b.kept[i]
		b.kept = slices.Delete(b.kept, i, i+1)
		return m
	}
	for late := time.After(20 * time.Second); ; {
		select {
		case m := <-b.mails:
			if to(m) {
				return m
			}
			b.kept = append(b.kept, m)
		case <-late:
			t.Fatalf("no mail to %s", address)
		}
	}
}

// received is a webhook whose signature fits.
type received struct{ id, body string }

// inbox is a receiver of webhooks outside of the service.
type inbox struct {
	gate

	hooks chan received // what arrived, also what is then not answered
	env   []string
}

// openInbox starts a receiver. It does not answer while its gate is closed.
func openInbox(t *testing.T) *inbox {
	t.Helper()
	secret := signature.NewSecret()
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	b := &inbox{hooks: make(chan received, 1000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		delivery, err := verifier.Verify(r.Header, body)
		if err != nil {
			t.Error(err)
		}
		b.hooks <- received{delivery.ID, string(body)}
		if b.closed.Load() {
			<-r.Context().Done() // the sender is gone
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	b.env = []string{
		"NOTIFICATIONS_HOOK_URL=" + server.URL,
		"NOTIFICATIONS_HOOK_SECRET=" + secret.Reveal(),
	}
	return b
}

// next returns the next webhook.
func (b *inbox) next(t *testing.T) received {
	t.Helper()
	select {
	case hook := <-b.hooks:
		return hook
	case <-time.After(20 * time.Second):
		t.Fatal("no webhook")
		return received{}
	}
}
