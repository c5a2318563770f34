package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log" //nolint:depguard // net/http writes to it
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

// standardLog returns what the log of the standard library says until the test ends.
func standardLog(t *testing.T) *lines {
	t.Helper()
	out := &lines{}
	before := log.Writer()
	log.SetOutput(out)
	t.Cleanup(func() { log.SetOutput(before) })
	return out
}

func TestBytesThatNobodyAskedForAreInNoLog(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, r := range []struct {
		name  string
		serve func(ctx context.Context, conn net.Conn)
	}{
		{"after the answer", func(_ context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, answer)
				_, _ = io.WriteString(conn, secretAnswer)
			}
		}},
		{"with the answer", func(_ context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, answer+secretAnswer)
			}
		}},
		{"before the request", func(_ context.Context, conn net.Conn) {
			_, _ = io.WriteString(conn, secretAnswer+"\r\n\r\n")
			readRequest(conn)
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			out := standardLog(t)
			var open sync.WaitGroup
			url := listen(t, func(ctx context.Context, conn net.Conn) {
				open.Add(1)
				defer open.Done()
				r.serve(ctx, conn)
				// until the other side has closed, and so has read what it wanted
				_, _ = io.Copy(io.Discard, conn)
			})
			c := newClient(t, webhook.WithoutBreaker())
			for range 100 {
				_, _ = c.Send(t.Context(), endpoint(url), webhook.Event{Type: "a"})
			}
			c.Close()
			open.Wait()
			if out.String() != "" {
				t.Errorf("the standard log says %.300q", out)
			}
		})
	}
}

func TestEachAttemptHasAConnectionOfItsOwnOverHTTP1(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		var opened atomic.Int32
		protos := make(chan string, 5)
		s := httptest.NewUnstartedServer(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				protos <- r.Proto
				_, _ = w.Write([]byte("ok"))
			}))
		s.EnableHTTP2 = h2
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		s.StartTLS()
		t.Cleanup(s.Close)
		c := newClient(t, trust(s))
		for range 5 {
			if _, err := c.Send(t.Context(), endpoint(s.URL),
				webhook.Event{Type: "a"}); err != nil {
				t.Fatal(err)
			}
			if proto := <-protos; proto != "HTTP/1.1" {
				t.Errorf("the server has HTTP/2 %v: %s, want HTTP/1.1", h2, proto)
			}
		}
		if n := opened.Load(); n != 5 {
			t.Errorf("the server has HTTP/2 %v: %d connections, want 5", h2, n)
		}
	}
}

func TestAReceiverThatSpeaksHTTP2OnlyIsAConnectionError(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	only := s.TLS.Clone()
	only.NextProtos = []string{"h2"}
	url := listen(t, func(ctx context.Context, conn net.Conn) {
		_ = tls.Server(conn, only).HandshakeContext(ctx)
	})
	_, err := newClient(t, trust(s)).Send(t.Context(),
		endpoint(strings.Replace(url, "http", "https", 1)), webhook.Event{Type: "a"})
	if !errors.Is(err, webhook.ErrConnection) {
		t.Errorf("error %v, want ErrConnection", err)
	}
}

// dying passes each connection on to the server at address, and lets it die without a
// word once it has carried an answer.
func dying(t *testing.T, address string) (url string) {
	t.Helper()
	return listen(t, func(ctx context.Context, conn net.Conn) {
		server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			buf := make([]byte, 64<<10)
			for range 64 { // the handshake, settings, and one answer
				_ = server.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				n, err := server.Read(buf)
				if err != nil {
					return
				}
				_, _ = conn.Write(buf[:n])
			}
		}()
		buf := make([]byte, 64<<10)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				<-answered
				return
			}
			select {
			case <-answered: // what comes now gets lost
			default:
				_, _ = server.Write(buf[:n])
			}
		}
	})
}

func TestAConnectionThatDiesAfterItsAnswerHarmsNoLaterAttempt(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok"))
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	url := strings.Replace(dying(t, s.Listener.Addr().String()), "http", "https", 1)
	c := newClient(t, trust(s), webhook.WithoutBreaker(), webhook.WithTimeout(2*time.Second))
	for n := range 3 {
		if _, err := c.Send(t.Context(), endpoint(url), webhook.Event{Type: "a"}); err != nil {
			t.Errorf("attempt %d: %v", n+1, err)
		}
		// the connection dies meanwhile
		idle, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		<-idle.Done()
		cancel()
	}
}
