package webhook_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

const secretResponse = "response-of-the-receiver"

// readRequest reads a request from the connection.
func readRequest(conn net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// drip writes part repeatedly until the connection is closed.
func drip(ctx context.Context, conn net.Conn, part string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, err := io.WriteString(conn, part); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func TestClient_Send_HostileReceiver(t *testing.T) {
	out := capture(t)
	t.Cleanup(func() {
		if strings.Contains(out.String(), secretResponse) {
			t.Error("the log contains a response")
		}
	})
	write := func(first string) func(context.Context, net.Conn) {
		return func(_ context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, first)
			}
		}
	}
	dripping := func(first, part string) func(context.Context, net.Conn) {
		return func(ctx context.Context, conn net.Conn) {
			if readRequest(conn) {
				_, _ = io.WriteString(conn, first)
				drip(ctx, conn, part)
			}
		}
	}
	for _, r := range []struct {
		name  string
		serve func(context.Context, net.Conn)
		want  error
	}{
		{"never responds", dripping("", ""), webhook.ErrTimeout},
		{"never reads", func(ctx context.Context, _ net.Conn) { <-ctx.Done() }, webhook.ErrTimeout},
		{"drips its status line", dripping("HTTP/1.1 ", "2"), webhook.ErrTimeout},
		{"drips headers", dripping("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"), webhook.ErrTimeout},
		{"drips a header", dripping("HTTP/1.1 200 OK\r\nX-A: ", "b"), webhook.ErrTimeout},
		{
			"drips interim responses",
			dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n"), webhook.ErrTimeout,
		},
		{
			"drips a body", dripping("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", "b"),
			webhook.ErrTimeout,
		},
		{"drips chunks", dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"1\r\nb\r\n"), webhook.ErrTimeout},
		{
			"drips a body without a length",
			dripping("HTTP/1.1 200 OK\r\n\r\n", "b"), webhook.ErrTimeout,
		},
		{"drips trailers", dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
			"X-A: b\r\n"), webhook.ErrTimeout},
		{
			"drips the body of an error",
			dripping("HTTP/1.1 500 No\r\nContent-Length: 60000\r\n\r\n", "b"), webhook.ErrStatus,
		},
		{"closes immediately", func(context.Context, net.Conn) {}, webhook.ErrConnection},
		{"closes after the request", write(""), webhook.ErrConnection},
		{"closes in the status line", write("HTTP/1.1 20"), webhook.ErrConnection},
		{"closes in the headers", write("HTTP/1.1 200 OK\r\nX-A"), webhook.ErrConnection},
		{
			"closes in the body",
			write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + secretResponse),
			webhook.ErrConnection,
		},
		{"closes in a chunk", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" +
			secretResponse), webhook.ErrConnection},
		{"is not HTTP", write(secretResponse + "\r\n\r\n"), webhook.ErrConnection},
		{
			"has an invalid status",
			write("HTTP/1.1 " + secretResponse + " OK\r\n\r\n"), webhook.ErrConnection,
		},
		{
			"has an invalid header",
			write("HTTP/1.1 200 OK\r\n" + secretResponse + "\r\n\r\n"), webhook.ErrConnection,
		},
		{
			"has an invalid length",
			write("HTTP/1.1 200 OK\r\nContent-Length: " + secretResponse + "\r\n\r\n"),
			webhook.ErrConnection,
		},
		{
			"has two lengths", write(
				"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
			webhook.ErrConnection,
		},
		{"has an invalid chunk", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			secretResponse + "\r\n"), webhook.ErrConnection},
		{
			"switches protocols",
			dripping("HTTP/1.1 101 Switching Protocols\r\n"+
				"Connection: upgrade\r\nUpgrade: x\r\n\r\n", "b"),
			webhook.ErrStatus,
		},
		{
			"has one huge header",
			write("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 1<<20) + "\r\n\r\n"),
			webhook.ErrConnection,
		},
		{"has many headers", write("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: b\r\n",
			1<<17) + "\r\n"), webhook.ErrConnection},
		{
			"sends endless interim responses",
			write(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 1<<15)),
			webhook.ErrConnection,
		},
		{
			"sends endless continues",
			write(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1<<16)), webhook.ErrConnection,
		},
		{"announces 1 GB", write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" +
			secretResponse), webhook.ErrResponseTooLarge},
		{
			"announces 1 GB with an error",
			write("HTTP/1.1 500 No\r\nContent-Length: 1073741824\r\n\r\n"), webhook.ErrStatus,
		},
		{
			"redirects with 1 GB",
			write("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n" +
				"Content-Length: 1073741824\r\n\r\n"),
			webhook.ErrStatus,
		},
		{
			"truncates an error response",
			write("HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\nabc"), webhook.ErrGone,
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			// Errors other than timeouts have a long timeout, so that a slow machine does
			// not change the result.
			timeout := 20 * time.Second
			if errors.Is(r.want, webhook.ErrTimeout) || strings.Contains(r.name, "drips") {
				timeout = 300 * time.Millisecond
			}
			c := newClient(t, webhook.WithTimeout(timeout))
			start := time.Now()
			_, err := c.Send(t.Context(), endpoint(listen(t, r.serve)),
				webhook.Event{Type: "a", Data: strings.Repeat("a", 200<<10)})
			if !errors.Is(err, r.want) {
				t.Errorf("error %v, want %v", err, r.want)
			}
			if elapsed := time.Since(start); elapsed > 10*time.Second {
				t.Errorf("took %s", elapsed)
			}
			if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), secretResponse) {
				t.Errorf("error %q contains the response", err)
			}
		})
	}
}

// flood writes part repeatedly, up to limit bytes or an error, and returns the number of
// bytes written.
func flood(w http.ResponseWriter, part []byte, limit int64) (written int64) {
	for written < limit {
		n, err := w.Write(part)
		written += int64(n)
		if err != nil {
			break
		}
	}
	return written
}

func TestClient_Send_ResponseSize(t *testing.T) {
	t.Run("closes the connection of an endless response", func(t *testing.T) {
		written := make(chan int64, 1)
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			written <- flood(w, make([]byte, 64<<10), 1<<30)
		}))
		t.Cleanup(s.Close)
		result, err := newClient(t, trust(s)).Send(t.Context(), endpoint(s.URL),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrResponseTooLarge) || result.Status != http.StatusOK {
			t.Errorf("%+v, %v, want ErrResponseTooLarge", result, err)
		}
		// The count includes socket buffers, which are some megabytes on loopback.
		if n := <-written; n >= 64<<20 {
			t.Errorf("the client read %d bytes", n)
		}
	})

	t.Run("accepts a body up to the limit", func(t *testing.T) {
		for _, l := range []struct {
			bytes int
			want  error
		}{{64 << 10, nil}, {64<<10 + 1, webhook.ErrResponseTooLarge}} {
			for _, chunked := range []bool{false, true} {
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					if chunked {
						w.(http.Flusher).Flush()
					} else {
						w.Header().Set("Content-Length", fmt.Sprint(l.bytes))
					}
					_, _ = w.Write(make([]byte, l.bytes))
				})
				if _, err := newClient(t).Send(t.Context(), endpoint(s.URL),
					webhook.Event{Type: "a"}); !errors.Is(err, l.want) {
					t.Errorf("%d bytes, chunked %v: %v, want %v", l.bytes, chunked, err, l.want)
				}
			}
		}
	})

	t.Run("does not decompress a response", func(t *testing.T) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		for range 25 { // Go 1.27 needs twice as many bytes for zeros
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
		if packed.Len() > 60<<10 {
			t.Fatalf("compressed body: %d bytes", packed.Len())
		}
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept-Encoding"); got != "" {
				t.Errorf("Accept-Encoding = %q", got)
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		})
		c := newClient(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Send(t.Context(), endpoint(s.URL), webhook.Event{Type: "a"}); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 10<<20 {
			t.Errorf("%d bytes were allocated", grown)
		}
	})
}

func TestClient_Send_Handshake(t *testing.T) {
	t.Run("fails with ErrTimeout if the handshake hangs", func(t *testing.T) {
		url := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
		c := newClient(t, webhook.WithTimeout(200*time.Millisecond))
		_, err := c.Send(t.Context(), endpoint(strings.Replace(url, "http", "https", 1)),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrTimeout) {
			t.Errorf("error %v, want ErrTimeout", err)
		}
	})

	t.Run("fails with ErrConnection without TLS", func(t *testing.T) {
		s := serve(t, func(http.ResponseWriter, *http.Request) {})
		_, err := newClient(t).Send(t.Context(),
			endpoint(strings.Replace(s.URL, "http", "https", 1)),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrConnection) {
			t.Errorf("error %v, want ErrConnection", err)
		}
	})
}

func TestClient_Send_Cancellation(t *testing.T) {
	url := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	reason := errors.New("service shutdown")
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	defer timer.Stop()
	_, err := newClient(t).Send(ctx, endpoint(url), webhook.Event{Type: "a"})
	if !errors.Is(err, reason) || errors.Is(err, webhook.ErrTimeout) {
		t.Errorf("error %v, want the cause", err)
	}
}

func TestClient_Send_Log(t *testing.T) {
	out := capture(t)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Response", secretResponse)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(secretResponse))
	})
	c := newClient(t)
	to := endpoint(s.URL + "/path-token?key=query-token")
	to.Header = http.Header{"Authorization": {"header-token"}}
	for range 7 {
		_, err := c.Send(t.Context(), to, webhook.Event{Type: "a", Data: "payload-token"})
		if err == nil {
			t.Fatal("no error")
		}
		_, _ = fmt.Fprintln(out, err)
	}
	if !strings.Contains(out.String(), "circuit opened") {
		t.Error("the log does not report the open circuit")
	}
	for _, leak := range []string{secretResponse, "token", "MfKQ9r8"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("the output contains %q:\n%s", leak, out)
		}
	}
}
