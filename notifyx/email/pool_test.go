package email_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/notifyx/email"
)

// connections returns the number of connections that delivered messages.
func connections(s *server) int {
	seen := map[int]bool{}
	for _, m := range s.got() {
		seen[m.conn] = true
	}
	return len(seen)
}

// eventually waits until ok returns true.
func eventually(t *testing.T, event string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for %s", event)
		}
	}
}

func TestEmailClient_Pool(t *testing.T) {
	t.Run("reuses a connection", func(t *testing.T) {
		client, s := connect(t, nil)
		for range 5 {
			if err := client.Send(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
		}
		if got := connections(s); got != 1 || s.logins != 1 {
			t.Errorf("%d connections and %d logins, want one", got, s.logins)
		}
	})

	t.Run("closes an idle connection", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{})
		c := config(s.port)
		c.IdleTimeout = 20 * time.Millisecond
		client := newClient(t, c)
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "QUIT", func() bool { return count(s.commands(), "QUIT") == 1 })
		if err := client.Send(t.Context(), hello()); err != nil || s.connections() != 2 {
			t.Errorf("Send = %v over %d connections, want 2", err, s.connections())
		}
	})

	t.Run("replaces a dropped connection", func(t *testing.T) {
		client, s := connect(t, nil)
		for range 3 {
			if err := client.Send(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
			s.dropAll()
		}
		if got := connections(s); got != 3 {
			t.Errorf("%d connections, want 3", got)
		}
	})

	t.Run("replaces a connection closed with 421 without using an attempt", func(t *testing.T) {
		s := startFaultyServer(t,
			&faultyServer{replies: map[string]string{"RSET": "421 4.4.2 idle for too long"}})
		c := config(s.port)
		c.Tries = 1
		client := newClient(t, c)
		for range 2 {
			if err := client.Send(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
		}
		if s.connections() != 2 {
			t.Errorf("%d connections, want 2", s.connections())
		}
	})

	t.Run("replaces a silently dropped connection", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{stall: "RSET", once: true})
		c := config(s.port)
		c.DialTimeout = time.Second
		client := newClient(t, c)
		for range 2 {
			if err := client.Send(t.Context(), hello()); err != nil {
				t.Fatal(err)
			}
		}
		if s.connections() != 2 {
			t.Errorf("%d connections, want 2", s.connections())
		}
	})

	t.Run("limits the number of connections", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.hold = make(chan struct{}) })
		c := config(s.port)
		c.Connections = 2
		client := newClient(t, c)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if err := client.Send(t.Context(), hello()); err != nil {
					t.Error(err)
				}
			})
		}
		<-s.holding
		<-s.holding
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := client.Send(ctx, hello()); !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, email.ErrUncertain) {
			t.Errorf("Send with all connections in use = %v, want DeadlineExceeded", err)
		}
		close(s.hold)
		wg.Wait()
		if got := connections(s); got != 2 {
			t.Errorf("%d connections, want 2", got)
		}
	})
}

func TestEmailClient_Send_Concurrency(t *testing.T) {
	t.Run("sends concurrently", func(t *testing.T) {
		s := startServer(t, nil)
		c := config(s.port)
		c.Connections = 3
		client := newClient(t, c)
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				if err := client.Send(t.Context(),
					hello(fmt.Sprintf("user%d@example.com", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		seen := map[string]int{}
		for _, m := range s.got() {
			seen[m.to[0]]++
		}
		if len(s.got()) != 60 || len(seen) != 60 || connections(s) > 3 {
			t.Errorf("%d messages for %d recipients over %d connections, want 60, 60 and at most 3",
				len(s.got()), len(seen), connections(s))
		}
	})

	t.Run("neither loses nor repeats messages if connections drop", func(t *testing.T) {
		s := startServer(t, nil)
		client := newClient(t, config(s.port))
		var mu sync.Mutex
		results := map[string]error{}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				to := fmt.Sprintf("user%d@example.com", i)
				err := client.Send(t.Context(), hello(to))
				mu.Lock()
				results[to] = err
				mu.Unlock()
				if i%20 == 0 {
					s.dropAll()
				}
			})
		}
		wg.Wait()
		arrived := map[string]int{}
		for _, m := range s.got() {
			arrived[m.to[0]]++
		}
		for to, err := range results {
			switch n := arrived[to]; {
			case n > 1:
				t.Errorf("%s got %d messages", to, n)
			case n == 0 && err == nil:
				t.Errorf("%s got no message, but Send succeeded", to)
			case n == 1 && err != nil && !errors.Is(err, email.ErrUncertain):
				t.Errorf("%s got the message, but Send = %v", to, err)
			}
		}
	})
}

func TestEmailClient_Ping(t *testing.T) {
	client, s := connect(t, nil)
	for range 2 {
		if err := client.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.dropAll()
	if err := client.Ping(t.Context()); err != nil {
		t.Errorf("after a dropped connection: %v", err)
	}
	if err := client.Send(t.Context(), hello()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context()); !errors.Is(err, email.ErrConnection) {
		t.Errorf("without a server: %v, want ErrConnection", err)
	}
}

func TestEmailClient_Readiness(t *testing.T) {
	client := newClient(t, config(1))
	if _, ok := any(client).(xhook.HealthChecker); ok {
		t.Fatal("the client registered a readiness check")
	}
	hooks := xhook.New()
	ctx := xhook.NewContext(t.Context(), hooks)
	xhook.AddHealth(ctx, "email", client.Ping)
	if got := hooks.Check(ctx); len(got) != 1 || got[0].OK ||
		!errors.Is(got[0].Err, email.ErrConnection) {
		t.Errorf("checks = %+v, want one that fails", got)
	}
}

func TestEmailClient_Close(t *testing.T) {
	t.Run("waits for a message in flight", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.hold = make(chan struct{}) })
		client := newClient(t, config(s.port))
		sent, closed := make(chan error, 1), make(chan error, 1)
		go func() { sent <- client.Send(t.Context(), hello()) }()
		<-s.holding
		go func() { closed <- client.Close(t.Context()) }()
		eventually(t, "Close to reject new calls",
			func() bool { return errors.Is(client.Ping(t.Context()), email.ErrClosed) })
		select {
		case err := <-closed:
			t.Fatalf("Close = %v before the message was sent", err)
		default:
		}
		close(s.hold)
		if err := <-sent; err != nil {
			t.Errorf("Send = %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close = %v", err)
		}
		if err := client.Ping(t.Context()); !errors.Is(err, email.ErrClosed) {
			t.Errorf("Ping after Close = %v, want ErrClosed", err)
		}
	})

	t.Run("aborts a send when the context is done", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.hold = make(chan struct{}) })
		client := newClient(t, config(s.port))
		sent := make(chan error, 1)
		go func() { sent <- client.Send(t.Context(), hello()) }()
		<-s.holding
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := client.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want DeadlineExceeded", err)
		}
		if err := <-sent; !errors.Is(err, email.ErrClosed) || !errors.Is(err, email.ErrUncertain) {
			t.Errorf("Send = %v, want ErrClosed and ErrUncertain", err)
		}
		close(s.hold)
	})

	t.Run("cancels a waiting retry", func(t *testing.T) {
		s := startServer(t, func(s *server) { s.mail = first(99, reply(451, 4, 3, 0)) })
		c := config(s.port)
		waiting := make(chan struct{})
		c.Backoff = func(int) time.Duration { close(waiting); return time.Hour }
		client := newClient(t, c)
		sent := make(chan error, 1)
		go func() { sent <- client.Send(t.Context(), hello()) }()
		<-waiting
		if err := client.Close(t.Context()); err != nil {
			t.Errorf("Close = %v", err)
		}
		var smtpErr *email.SMTPError
		if err := <-sent; !errors.Is(err, email.ErrClosed) || !errors.As(err, &smtpErr) {
			t.Errorf("Send = %v, want ErrClosed and the 451", err)
		}
	})

	t.Run("sends QUIT", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{})
		client := newClient(t, config(s.port))
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count(s.commands(), "QUIT"); got != 1 {
			t.Errorf("%d QUIT commands, want 1", got)
		}
	})

	t.Run("does not wait for the reply to QUIT", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{stall: "QUIT"})
		client := newClient(t, config(s.port))
		if err := client.Send(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
}
