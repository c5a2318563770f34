package guard_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

// sendRaw sends bytes over a new connection and returns the response.
func sendRaw(t *testing.T, url, request string) reply {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return receive(t, res)
}

const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func TestGuard_Body(t *testing.T) {
	t.Run("incomplete bodies receive errors", func(t *testing.T) {
		url := serve(t, guard.Config{MaxBody: 1000, ReadTimeout: 50 * time.Millisecond}, endpoint())
		for _, tc := range []struct {
			name    string
			request string
			want    result
		}{
			{
				name: "no byte", request: head + "Content-Length: 50\r\n\r\n",
				want: result{Status: 408, Code: -32600},
			},
			{
				name: "incomplete", request: head + "Content-Length: 50\r\n\r\n{\"json",
				want: result{Status: 408, Code: -32600},
			},
			{
				name:    "one chunk",
				request: head + "Transfer-Encoding: chunked\r\n\r\n6\r\n{\"json\r\n",
				want:    result{Status: 408, Code: -32600},
			},
			{
				name: "broken chunks", request: head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
				want: result{Status: 400, Code: -32600},
			},
			{
				name: "too large by its length", request: head + "Content-Length: 1001\r\n\r\n",
				want: result{Status: 413, Code: -32600},
			},
			{
				name: "too large by its chunks", want: result{Status: 413, Code: -32600},
				request: head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n",
					1100, strings.Repeat(" ", 1100)),
			},
			{name: "of a GET", request: strings.Replace(head, "POST", "GET",
				1) + "Content-Length: 50\r\n\r\n", want: result{Status: 405, Code: -32600}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				res := sendRaw(t, url, tc.request)
				if got := res.read(t); got != tc.want {
					t.Errorf("result is %+v, want %+v: %s", got, tc.want, res.body)
				}
			})
		}
	})

	t.Run("the deadline is reset after the body", func(t *testing.T) {
		const timeout = 20 * time.Millisecond
		url := serve(t, guard.Config{ReadTimeout: timeout},
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
					w.WriteHeader(http.StatusGone)
				case <-time.After(5 * timeout):
				}
			}))
		if res := (call{body: listTools}).do(t, url); res.status != http.StatusOK {
			t.Errorf("status is %d, want 200", res.status)
		}
	})
}

func TestGuard_Panic(t *testing.T) {
	t.Run("is logged and reported", func(t *testing.T) {
		var log bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		url := serve(t, guard.Config{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic("secret")
		}))
		res := call{body: listTools, header: map[string]string{"X-Request-UUID": "id-1"}}.do(t, url)
		if got, want := res.read(t), (result{Status: 500, Code: -32603, ID: "7"}); got != want {
			t.Errorf("result is %+v, want %+v", got, want)
		}
		if strings.Contains(res.body, "secret") {
			t.Errorf("the response contains the panic: %s", res.body)
		}
		for _, want := range []string{"panic=secret", "request_id=id-1", "stack="} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %s: %s", want, log.String())
			}
		}
	})

	t.Run("aborts a response that has started", func(t *testing.T) {
		s := httptest.NewUnstartedServer(guard.New(guard.Config{},
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "started")
				_ = http.NewResponseController(w).Flush()
				panic("late")
			})))
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.Start()
		defer s.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL,
			strings.NewReader(listTools))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if body, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("body = %q without an error, want an aborted response", body)
		}
	})
}

func TestGuard_RequestID(t *testing.T) {
	fresh := regexp.MustCompile(
		`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, tc := range []struct {
		name        string
		outer, sent string
		want        string // "" for a new one
	}{
		{name: "none"},
		{
			name: "the client's",
			sent: "a.B_9-" + strings.Repeat("x", 58), want: "a.B_9-" + strings.Repeat("x", 58),
		},
		{name: "too long", sent: strings.Repeat("x", 65)},
		{name: "with a blank", sent: "a b"},
		{name: "the outer one", outer: "outer", sent: "inner", want: "outer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			if tc.outer != "" {
				w.Header().Set("X-Request-UUID", tc.outer)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("X-Request-UUID", tc.sent)
			guard.New(guard.Config{}, endpoint()).ServeHTTP(w, r)
			got := w.Header().Values("X-Request-UUID")
			if len(got) != 1 || tc.want != "" && got[0] != tc.want || tc.want == "" &&
				!fresh.MatchString(got[0]) {
				t.Errorf("X-Request-UUID is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestResponse_Flush(t *testing.T) {
	t.Run("forwards streams", func(t *testing.T) {
		url := serve(t, guard.Config{}, endpoint())
		res := request(modern, "subscriptions/listen", `"notifications":{}`).do(t, url)
		if res.status != http.StatusOK || res.header.Get("Content-Type") != "text/event-stream" ||
			res.header.Get("X-Accel-Buffering") != "no" ||
			!strings.Contains(res.body, "notifications/subscriptions/acknowledged") {
			t.Errorf("result is %d %v: %s", res.status, res.header, res.body)
		}
	})

	t.Run("holds errors back", func(t *testing.T) {
		url := serve(t, guard.Config{},
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, strings.Repeat("text ", 1000), http.StatusTeapot)
				w.WriteHeader(http.StatusOK)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}))
		res := call{body: listTools}.do(t, url)
		if got, want := res.read(t), (result{Status: 418, Code: -32600, ID: "7"}); got != want {
			t.Errorf("result is %+v, want %+v", got, want)
		}
	})
}

func TestGuard_Concurrent(t *testing.T) {
	url := serve(t, guard.Config{}, endpoint())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, version := range append(legacy, modern) {
				res := request(version, "tools/list", "").do(t, url)
				if got, want := res.read(t), (result{Status: 200, ID: `"a"`}); got != want {
					t.Errorf("result is %+v, want %+v", got, want)
				}
			}
		})
	}
	all.Wait()
}

// FuzzBody checks that every body receives a JSON-RPC response, or is accepted without a
// body, in time.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		listTools, "[" + listTools + "]",
		`{"jsonrpc":"2.0","id":1,"result":{}}`, "null", `[{"id":1},{}]`, `{"method":1}`, "{",
		"\xff",
	} {
		for _, version := range []string{"", "2025-06-18", modern, "1"} {
			f.Add(s, version)
		}
	}
	h := guard.New(guard.Config{}, endpoint())
	f.Fuzz(func(t *testing.T, body, version string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("MCP-Protocol-Version", version)
		w := httptest.NewRecorder()
		hang := time.AfterFunc(5*time.Second,
			func() { panic(fmt.Sprintf("%q hangs with version %q", body, version)) })
		h.ServeHTTP(w, r)
		hang.Stop()
		kind := w.Header().Get("Content-Type")
		if w.Code >= 500 || w.Body.Len() > 0 && kind != "application/json" &&
			kind != "text/event-stream" {
			t.Errorf("response to %q = %d %s %s", body, w.Code, kind, w.Body)
		}
	})
}
