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

const secretAnswer = "answer-of-the-receiver"

// readRequest takes a request off the connection.
func readRequest(conn net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// drip writes part again and again until the other side has gone.
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

func TestHostileReceivers(t *testing.T) {
	out := capture(t)
	t.Cleanup(func() {
		if strings.Contains(out.String(), secretAnswer) {
			t.Error("the log shows an answer")
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
		{"never answers", dripping("", ""), webhook.ErrTimeout},
		{"never reads", func(ctx context.Context, _ net.Conn) { <-ctx.Done() }, webhook.ErrTimeout},
		{"drips its status line", dripping("HTTP/1.1 ", "2"), webhook.ErrTimeout},
		{"drips headers", dripping("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"), webhook.ErrTimeout},
		{"drips a header", dripping("HTTP/1.1 200 OK\r\nX-A: ", "b"), webhook.ErrTimeout},
		{
			"drips interim answers",
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
		{"closes at once", func(context.Context, net.Conn) {}, webhook.ErrConnection},
		{"closes after the request", write(""), webhook.ErrConnection},
		{"closes in the status line", write("HTTP/1.1 20"), webhook.ErrConnection},
		{"closes in the headers", write("HTTP/1.1 200 OK\r\nX-A"), webhook.ErrConnection},
		{
			"closes in the body",
			write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + secretAnswer),
			webhook.ErrConnection,
		},
		{"closes in a chunk", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" +
			secretAnswer), webhook.ErrConnection},
		{"is no HTTP", write(secretAnswer + "\r\n\r\n"), webhook.ErrConnection},
		{
			"has a wrong status",
			write("HTTP/1.1 " + secretAnswer + " OK\r\n\r\n"), webhook.ErrConnection,
		},
		{
			"has a wrong header",
			write("HTTP/1.1 200 OK\r\n" + secretAnswer + "\r\n\r\n"), webhook.ErrConnection,
		},
		{
			"has a wrong length",
			write("HTTP/1.1 200 OK\r\nContent-Length: " + secretAnswer + "\r\n\r\n"),
			webhook.ErrConnection,
		},
		{
			"has two lengths", write(
				"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
			webhook.ErrConnection,
		},
		{"has a wrong chunk", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			secretAnswer + "\r\n"), webhook.ErrConnection},
		{
			"switches protocols",
			dripping("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "b"), webhook.ErrStatus,
		},
		{
			"has one huge header",
			write("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 1<<20) + "\r\n\r\n"),
			webhook.ErrConnection,
		},
		{"has many headers", write("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: b\r\n",
			1<<17) + "\r\n"), webhook.ErrConnection},
		{
			"has no end of interim answers",
			write(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 1<<15)),
			webhook.ErrConnection,
		},
		{
			"has no end of continues",
			write(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1<<16)), webhook.ErrConnection,
		},
		{"announces 1 GB", write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" +
			secretAnswer), webhook.ErrResponseTooLarge},
		{
			"announces 1 GB with an error",
			write("HTTP/1.1 500 No\r\nContent-Length: 1073741824\r\n\r\n"), webhook.ErrStatus,
		},
		{
			"redirects with 1 GB",
			write("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 1073741824\r\n\r\n"), webhook.ErrStatus,
		},
		{
			"breaks the end of an error",
			write("HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\nabc"), webhook.ErrGone,
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			// An error that is expected to come before the timeout has time, so that a
			// busy machine changes nothing.
			timeout := 20 * time.Second
			if errors.Is(r.want, webhook.ErrTimeout) || strings.Contains(r.name, "drips") {
				timeout = 300 * time.Millisecond
			}
			c := newClient(t, webhook.WithTimeout(timeout))
			begin := time.Now()
			_, err := c.Send(t.Context(), endpoint(listen(t, r.serve)),
				webhook.Event{Type: "a", Data: strings.Repeat("a", 200<<10)})
			if !errors.Is(err, r.want) {
				t.Errorf("error %v, want %v", err, r.want)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), secretAnswer) {
				t.Errorf("the error %q shows the answer", err)
			}
		})
	}
}

// flood answers with an endless body in chunks and tells how much the other side has
// taken.
func flood(w http.ResponseWriter, part []byte, most int64) (written int64) {
	for written < most {
		n, err := w.Write(part)
		written += int64(n)
		if err != nil {
			break
		}
	}
	return written
}

func TestAnEndlessAnswerIsCutOffAndNotDrained(t *testing.T) {
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
	// What the sockets hold was written too; on loopback that is some megabytes.
	if n := <-written; n >= 64<<20 {
		t.Errorf("the receiver got rid of %d bytes", n)
	}
}

func TestTheBodyMayBeAsLongAsTheLimit(t *testing.T) {
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
}

func TestACompressedAnswerIsNotUnpacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 25 { // Go 1.27 needs twice as many bytes for zeros
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	if packed.Len() > 60<<10 {
		t.Fatalf("the bomb has %d bytes", packed.Len())
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
}

func TestAHandshakeThatHangsIsATimeout(t *testing.T) {
	url := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	c := newClient(t, webhook.WithTimeout(200*time.Millisecond))
	_, err := c.Send(t.Context(), endpoint(strings.Replace(url, "http", "https", 1)),
		webhook.Event{Type: "a"})
	if !errors.Is(err, webhook.ErrTimeout) {
		t.Errorf("error %v, want ErrTimeout", err)
	}
}

func TestAServerWithoutTLSIsNoReceiver(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := newClient(t).Send(t.Context(), endpoint(strings.Replace(s.URL, "http", "https", 1)),
		webhook.Event{Type: "a"})
	if !errors.Is(err, webhook.ErrConnection) {
		t.Errorf("error %v, want ErrConnection", err)
	}
}

func TestTheEndOfTheCallersContextIsToldByItsCause(t *testing.T) {
	url := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	reason := errors.New("the service stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	defer timer.Stop()
	_, err := newClient(t).Send(ctx, endpoint(url), webhook.Event{Type: "a"})
	if !errors.Is(err, reason) || errors.Is(err, webhook.ErrTimeout) {
		t.Errorf("error %v, want the cause", err)
	}
}

func TestNothingOfTheExchangeIsInTheLog(t *testing.T) {
	out := capture(t)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", secretAnswer)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(secretAnswer))
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
		t.Error("the log does not tell of the circuit")
	}
	for _, leak := range []string{secretAnswer, "token", "MfKQ9r8"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("the output shows %q:\n%s", leak, out)
		}
	}
}
