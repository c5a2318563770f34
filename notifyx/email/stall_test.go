package email_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// stages lists the steps at which a server may stop responding. complete reports whether
// the message was sent completely.
var stages = []struct {
	name     string
	step     string
	implicit bool
	complete bool
}{
	{name: "before the greeting", step: "greeting"},
	{name: "at EHLO", step: "EHLO"},
	{name: "at STARTTLS", step: "STAR"},
	{name: "in the handshake", step: "tls"},
	{name: "in the implicit handshake", step: "tls", implicit: true},
	{name: "at the second EHLO", step: "EHLO2"},
	{name: "at AUTH", step: "AUTH"},
	{name: "at MAIL", step: "MAIL"},
	{name: "at RCPT", step: "RCPT"},
	{name: "at DATA", step: "DATA"},
	{name: "in the content", step: "mid", complete: true},
	{name: "after the content", step: "content", complete: true},
}

func stageConfig(port int, implicit bool) email.Config {
	c := config(port)
	if implicit {
		c.TLS = "tls"
	}
	return c
}

func TestEmailClient_Send_Stall(t *testing.T) {
	t.Parallel()

	t.Run("fails after the timeout", func(t *testing.T) {
		t.Parallel()
		for _, tc := range stages {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				s := startFaultyServer(t, &faultyServer{stall: tc.step, implicit: tc.implicit})
				c := stageConfig(s.port, tc.implicit)
				c.DialTimeout, c.CommandTimeout, c.DataTimeout = time.Second, time.Second,
					time.Second
				start := time.Now()
				err := newClient(t, c).Send(t.Context(), hello())
				if elapsed := time.Since(start); elapsed > 10*time.Second {
					t.Errorf("Send took %v", elapsed)
				}
				if !errors.Is(err, email.ErrTimeout) || errors.Is(err, notifyx.ErrPermanent) {
					t.Errorf("Send = %v, want ErrTimeout", err)
				}
				if got := errors.Is(err, email.ErrUncertain); got != tc.complete {
					t.Errorf("ErrUncertain is %t, want %t: %v", got, tc.complete, err)
				}
				if s.connections() != 1 {
					t.Errorf("%d connections, want 1", s.connections())
				}
			})
		}
	})

	t.Run("fails when the context is done", func(t *testing.T) {
		t.Parallel()
		for _, tc := range stages {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				s := startFaultyServer(t, &faultyServer{stall: tc.step, implicit: tc.implicit})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				err := newClient(t, stageConfig(s.port, tc.implicit)).Send(ctx, hello())
				if elapsed := time.Since(start); elapsed > 10*time.Second {
					t.Errorf("Send took %v", elapsed)
				}
				if !errors.Is(err, email.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Send = %v, want ErrTimeout and DeadlineExceeded", err)
				}
				if got := errors.Is(err, email.ErrUncertain); got != tc.complete {
					t.Errorf("ErrUncertain is %t, want %t: %v", got, tc.complete, err)
				}
			})
		}
	})

	t.Run("is not uncertain if the content was not sent completely", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{unread: true})
		m := hello()
		m.Attachments = []email.File{{Name: "large", Content: make([]byte, 15<<20)}}
		c := config(s.port)
		c.DataTimeout = time.Second
		err := newClient(t, c).Send(t.Context(), m)
		if !errors.Is(err, email.ErrTimeout) || errors.Is(err, email.ErrUncertain) {
			t.Errorf("Send = %v, want ErrTimeout and not ErrUncertain: "+
				"the end of the message was not sent", err)
		}
	})
}

func TestEmailClient_Send_Canceled(t *testing.T) {
	client, s := connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Send(ctx, hello()); !errors.Is(err, context.Canceled) {
		t.Errorf("Send = %v, want Canceled", err)
	}
	if sessions, _, _ := s.counts(); sessions != 0 {
		t.Errorf("%d connections", sessions)
	}
}

func TestEmailClient_Send_Drop(t *testing.T) {
	t.Run("opens a new connection once", func(t *testing.T) {
		for _, step := range []string{"MAIL", "RCPT", "DATA"} {
			t.Run(step+", once", func(t *testing.T) {
				s := startFaultyServer(t, &faultyServer{drop: step, once: true})
				if err := newClient(t, config(s.port)).Send(t.Context(), hello()); err != nil ||
					s.connections() != 2 {
					t.Errorf("Send = %v over %d connections, want 2", err, s.connections())
				}
			})
			t.Run(step+", always", func(t *testing.T) {
				s := startFaultyServer(t, &faultyServer{drop: step})
				err := newClient(t, config(s.port)).Send(t.Context(), hello())
				if !errors.Is(err, email.ErrConnection) || errors.Is(err, email.ErrUncertain) ||
					s.connections() != 2 {
					t.Errorf("Send = %v over %d connections, want ErrConnection over 2",
						err, s.connections())
				}
			})
		}
		t.Run("in a large message", func(t *testing.T) {
			s := startFaultyServer(t, &faultyServer{drop: "mid", once: true})
			m := hello()
			m.Attachments = []email.File{{Name: "large", Content: make([]byte, 15<<20)}}
			if err := newClient(t, config(s.port)).Send(t.Context(), m); err != nil ||
				s.connections() != 2 {
				t.Errorf("Send = %v over %d connections, want 2", err, s.connections())
			}
		})
	})

	t.Run("fails with ErrUncertain after the content", func(t *testing.T) {
		for _, reply := range []string{"", "garbage secret@example.com", "354 go on"} {
			c := &faultyServer{replies: map[string]string{"content": reply}}
			if reply == "" {
				c = &faultyServer{drop: "content"}
			}
			s := startFaultyServer(t, c)
			err := newClient(t, config(s.port)).Send(t.Context(), hello())
			if !errors.Is(err, email.ErrUncertain) || errors.Is(err, notifyx.ErrPermanent) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: Send = %v, want ErrUncertain and not ErrPermanent", reply, err)
			}
			if s.connections() != 1 {
				t.Errorf("%q: %d connections: the message was repeated", reply, s.connections())
			}
		}
	})
}
