package email_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// first fails the first n calls.
func first(n int, err error) func(int) error {
	return func(call int) error {
		if call <= n {
			return err
		}
		return nil
	}
}

func TestEmailClient_Send_Retry(t *testing.T) {
	t.Run("retries temporary failures", func(t *testing.T) {
		once := false
		for _, tc := range []struct {
			name   string
			change func(*server)
		}{
			{"at MAIL", func(s *server) { s.mail = first(2, reply(451, 4, 3, 0)) }},
			{"at RCPT", func(s *server) {
				s.rcpt = func(string) error {
					if once {
						return nil
					}
					once = true
					return reply(450, 4, 2, 0)
				}
			}},
			{"after the content", func(s *server) { s.data = first(2, reply(452, 4, 3, 1)) }},
			{"with 421 at MAIL", func(s *server) { s.mail = first(2, reply(421, 4, 3, 2)) }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				client, s := connect(t, tc.change)
				if err := client.Send(t.Context(), hello()); err != nil {
					t.Fatal(err)
				}
				if _, n, _ := s.counts(); n != 1 {
					t.Errorf("%d messages arrived, want 1", n)
				}
			})
		}
	})

	t.Run("retries a temporary failure of DATA", func(t *testing.T) {
		s := startFaultyServer(t,
			&faultyServer{replies: map[string]string{"DATA": "451 4.3.0 later"}})
		err := newClient(t, config(s.port)).Send(t.Context(), hello())
		var smtpErr *email.SMTPError
		if !errors.As(err, &smtpErr) || smtpErr.Code != 451 || smtpErr.Step != "DATA" ||
			!smtpErr.Temporary() {
			t.Errorf("Send = %v, want the 451", err)
		}
		if got := count(s.commands(), "DATA"); got != 3 {
			t.Errorf("DATA was sent %d times, want 3", got)
		}
	})

	t.Run("returns the last temporary failure", func(t *testing.T) {
		client, s := connect(t, func(s *server) { s.mail = first(99, reply(451, 4, 3, 0)) })
		log, engine := capture(t)
		err := client.Send(xlog.NewContext(t.Context(), engine), hello())
		var smtpErr *email.SMTPError
		if !errors.As(err, &smtpErr) || smtpErr.Code != 451 || smtpErr.EnhancedCode != "4.3.0" ||
			errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("Send = %v, want 451 4.3.0, not permanent", err)
		}
		if s.mails != 3 {
			t.Errorf("%d attempts, want 3", s.mails)
		}
		if text := err.Error() + log.String(); strings.Contains(text, "secret@") ||
			strings.Contains(text, "user@") {
			t.Errorf("output contains the server text or an address: %s", text)
		}
		if !strings.Contains(smtpErr.ServerText(), "secret@example.com") {
			t.Errorf("ServerText = %q", smtpErr.ServerText())
		}
		if got := strings.Count(log.String(), "mail deferred"); got != 2 {
			t.Errorf("%d retry lines, want 2:\n%s", got, log)
		}
		if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceUnavailable {
			t.Errorf("code = %s", code.GetOutput())
		}
	})

	t.Run("does not retry permanent failures", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			change func(*server)
			tries  func(*server) int
		}{
			{
				"at MAIL", func(s *server) { s.mail = first(99, reply(550, 5, 7, 1)) },
				func(s *server) int { return s.mails },
			},
			{
				"at RCPT", func(s *server) {
					s.rcpt = func(string) error { return reply(550, 5, 1, 1) }
				},
				func(s *server) int { return s.mails },
			},
			{
				"after the content", func(s *server) { s.data = first(99, reply(554, 5, 7, 1)) },
				func(s *server) int { return s.datas },
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				client, s := connect(t, tc.change)
				err := client.Send(t.Context(), hello())
				if !errors.Is(err, notifyx.ErrPermanent) || tc.tries(s) != 1 {
					t.Errorf("Send = %v after %d attempts, want ErrPermanent after one",
						err, tc.tries(s))
				}
				if e := xerror.From(err); e.GetErrorCode() != xerror.EmailError ||
					strings.Contains(string(e.GetErrorMessage()), "55") {
					t.Errorf("client gets %s %q",
						e.GetErrorCode().GetOutput(), e.GetErrorMessage())
				}
			})
		}
	})

	t.Run("stops when the context is done", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.mail = first(99, reply(451, 4, 3, 0)) })
		c := config(s.port)
		c.Backoff = func(int) time.Duration { return time.Hour }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := newClient(t, c).Send(ctx, hello())
		var smtpErr *email.SMTPError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, email.ErrTimeout) ||
			!errors.As(err, &smtpErr) {
			t.Errorf("Send = %v, want ErrTimeout, the context's error and the 451", err)
		}
	})
}

func count(list []string, text string) int {
	n := 0
	for _, item := range list {
		if item == text {
			n++
		}
	}
	return n
}

func TestEmailClient_Send_AuthRequired(t *testing.T) {
	client, _ := connect(t, func(s *server) { s.mail = first(99, reply(530, 5, 7, 0)) })
	if err := client.Send(t.Context(), hello()); !errors.Is(err, email.ErrAuth) ||
		errors.Is(err, notifyx.ErrPermanent) {
		t.Errorf("Send = %v, want ErrAuth and not ErrPermanent", err)
	}
}

func TestEmailClient_Send_Recipients(t *testing.T) {
	t.Run("sends nothing if one recipient is rejected", func(t *testing.T) {
		rcpt := func(to string) error {
			if to == "bad@example.com" {
				return reply(550, 5, 1, 1)
			}
			return nil
		}
		client, s := connect(t, func(s *server) { s.rcpt = rcpt })
		err := client.Send(t.Context(), hello("a@example.com", "bad@example.com", "c@example.com"))
		var rejected *email.RecipientsError
		if !errors.As(err, &rejected) {
			t.Fatalf("Send = %v, want a RecipientsError", err)
		}
		if len(rejected.Rejected) != 1 || rejected.Rejected["bad@example.com"] == nil ||
			rejected.Rejected["bad@example.com"].Code != 550 {
			t.Errorf("rejected = %+v", rejected.Rejected)
		}
		if diff := cmp.Diff([]string{"a@example.com", "c@example.com"},
			rejected.Accepted); diff != "" {
			t.Errorf("accepted (-want +got):\n%s", diff)
		}
		if !errors.Is(err, notifyx.ErrPermanent) || strings.Contains(err.Error(), "bad@") {
			t.Errorf("Send = %v, want ErrPermanent without an address", err)
		}
		if _, n, resets := s.counts(); n != 0 || resets == 0 {
			t.Errorf("%d messages and %d resets, want 0 and 1", n, resets)
		}
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Errorf("the next message: %v", err)
		}
		if sessions, _, _ := s.counts(); sessions > 2 { // one before and one after STARTTLS
			t.Errorf("%d sessions: the connection was not reused", sessions)
		}
	})

	t.Run("sends one message to a thousand recipients", func(t *testing.T) {
		s := startServer(t, nil)
		c := config(s.port)
		c.MaxRecipients = 1000
		var list []string
		for i := range 1000 {
			list = append(list, fmt.Sprintf("user%d@example.com", i))
		}
		if err := newClient(t, c).Send(t.Context(), hello(list...)); err != nil {
			t.Fatal(err)
		}
		if got := s.got(); len(got) != 1 || len(got[0].to) != 1000 {
			t.Errorf("%d messages", len(got))
		}
		if err := newClient(t, config(s.port)).Send(t.Context(), hello(list...)); !isInvalid(err) {
			t.Errorf("with the default limit: %v, want ErrMessage", err)
		}
	})

	t.Run("sends nothing if the server limits recipients", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.MaxRecipients = 10 })
		var list []string
		for i := range 20 {
			list = append(list, fmt.Sprintf("user%d@example.com", i))
		}
		err := newClient(t, config(s.port)).Send(t.Context(), hello(list...))
		var rejected *email.RecipientsError
		if !errors.As(err, &rejected) || len(rejected.Rejected) != 10 ||
			errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("Send = %v, want a RecipientsError that is not permanent", err)
		}
		if _, n, _ := s.counts(); n != 0 {
			t.Errorf("%d messages", n)
		}
	})
}

func TestEmailClient_Send_Size(t *testing.T) {
	client, s := connect(t, func(s *server) { s.MaxMessageBytes = 1000 })
	m := hello()
	m.Text = strings.Repeat("x", 2000)
	if err := client.Send(t.Context(), m); !isInvalid(err) || s.mails != 0 {
		t.Errorf("Send = %v with %d MAIL, want ErrMessage without one", err, s.mails)
	}
}

func TestEmailClient_Send_SeveralMessages(t *testing.T) {
	client, s := connect(t, func(s *server) {
		s.mail = func(n int) error {
			if n == 2 {
				return reply(550, 5, 7, 1)
			}
			return nil
		}
	})
	a, b, c := hello("a@example.com"), hello("b@example.com"), hello("c@example.com")
	b.ID = "b"
	err := client.Send(t.Context(), a, b, c)
	var failed *email.MessageError
	if !errors.As(err, &failed) || failed.Index != 1 || failed.ID != "b" {
		t.Errorf("Send = %v, want a MessageError about the second", err)
	}
	var to []string
	for _, m := range s.got() {
		to = append(to, m.to...)
	}
	if !slices.Equal(to, []string{"a@example.com", "c@example.com"}) ||
		s.got()[0].conn != s.got()[1].conn {
		t.Errorf("recipients %q over the connections %d and %d",
			to, s.got()[0].conn, s.got()[1].conn)
	}
}
