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

// standardLog captures the output of the standard logger until the end of the test.
func standardLog(t *testing.T) *logBuffer {
	t.Helper()
	out := &logBuffer{}
	before := log.Writer()
	log.SetOutput(out)
	t.Cleanup(func() { log.SetOutput(before) })
	return out
}

func TestClient_Send_UnsolicitedBytes(t *testing.T) {
	const response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, r := range []struct {
		name  string
		serve func(ctx context.Context, conn net.Conn)
	}{
		{"after the response", func(_ context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, response)
				_, _ = io.WriteString(conn, secretResponse)
			}
		}},
		{"with the response", func(_ context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, response+secretResponse)
			}
		}},
		{"before the request", func(_ context.Context, conn net.Conn) {
			_, _ = io.WriteString(conn, secretResponse+"\r\n\r\n")
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
				// until the client has closed the connection
				_, _ = io.Copy(io.Discard, conn)
			})
			c := newClient(t, webhook.WithoutBreaker())
			for range 100 {
				_, _ = c.Send(t.Context(), endpoint(url), webhook.Event{Type: "a"})
			}
			c.Close()
			open.Wait()
			if out.String() != "" {
				t.Errorf("standard log contains %.300q", out)
			}
		})
	}
}

func TestClient_Send_Connection(t *testing.T) {
	t.Run("opens an HTTP/1.1 connection per attempt", func(t *testing.T) {
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
					t.Errorf("server with HTTP/2 %v: %s, want HTTP/1.1", h2, proto)
				}
			}
			if n := opened.Load(); n != 5 {
				t.Errorf("server with HTTP/2 %v: %d connections, want 5", h2, n)
			}
		}
	})

	t.Run("fails with ErrConnection for HTTP/2 only", func(t *testing.T) {
		s := httptest.NewUnstartedServer(
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.EnableHTTP2 = true
		s.StartTLS()
		t.Cleanup(s.Close)
		h2Only := s.TLS.Clone()
		h2Only.NextProtos = []string{"h2"}
		url := listen(t, func(ctx context.Context, conn net.Conn) {
			_ = tls.Server(conn, h2Only).HandshakeContext(ctx)
		})
		_, err := newClient(t, trust(s)).Send(t.Context(),
			endpoint(strings.Replace(url, "http", "https", 1)), webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrConnection) {
			t.Errorf("error %v, want ErrConnection", err)
		}
	})

	t.Run("survives a stalled connection of an earlier attempt", func(t *testing.T) {
		s := httptest.NewUnstartedServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("ok"))
			}))
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.EnableHTTP2 = true
		s.StartTLS()
		t.Cleanup(s.Close)
		url := strings.Replace(stallAfterResponse(t, s.Listener.Addr().String()), "http", "https",
			1)
		c := newClient(t, trust(s), webhook.WithoutBreaker(), webhook.WithTimeout(2*time.Second))
		for n := range 3 {
			if _, err := c.Send(t.Context(), endpoint(url), webhook.Event{Type: "a"}); err != nil {
				t.Errorf("attempt %d: %v", n+1, err)
			}
			// the connection stalls in the meantime
			idle, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			<-idle.Done()
			cancel()
		}
	})
}

// stallAfterResponse proxies connections to the server at address. After the first
// response it drops all further data without closing the connection.
func stallAfterResponse(t *testing.T, address string) (url string) {
	t.Helper()
	return listen(t, func(ctx context.Context, conn net.Conn) {
		server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		responded := make(chan struct{})
		go func() {
			defer close(responded)
			buf := make([]byte, 64<<10)
			for range 64 { // handshake, settings and one response
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
				<-responded
				return
			}
			select {
			case <-responded: // drop the data
			default:
				_, _ = server.Write(buf[:n])
			}
		}
	})
}
