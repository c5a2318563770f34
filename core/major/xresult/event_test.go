package xresult_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

type event = xresult.Event[string]

// sendEvents serves a stream of events and returns its body and the log.
func sendEvents(t *testing.T, accept string, events ...event) (body, log string) {
	t.Helper()
	w, logged := serve(t, xhelper.Config{}, func(c *gin.Context) {
		xresult.Stream(c, func(yield func(event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		})
	}, "Accept", accept)
	return w.Body.String(), logged.String()
}

func TestStream_Events(t *testing.T) {
	for _, tc := range []struct {
		name  string
		event event
		want  string
	}{
		{"only data", event{Data: "a"}, "data: \"a\"\n\n"},
		{
			"all fields",
			event{ID: "7", Name: "change", Retry: 1500 * time.Millisecond, Data: "a"},
			"id: 7\nevent: change\nretry: 1500\ndata: \"a\"\n\n",
		},
		{"spaces and colons", event{ID: " a: b"}, "id:  a: b\ndata: \"\"\n\n"},
		{"line breaks in the data", event{Data: "a\r\nb"}, "data: \"a\\r\\nb\"\n\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, _ := sendEvents(t, "text/event-stream", tc.event); got != tc.want {
				t.Errorf("events = %q, want %q", got, tc.want)
			}
			want := tc.want[strings.Index(tc.want, "data: ")+len("data: ") : len(tc.want)-1]
			if got, _ := sendEvents(t, "application/jsonl", tc.event); got != want {
				t.Errorf("lines = %q, want %q", got, want)
			}
		})
	}
}

func TestStream_InvalidEvents(t *testing.T) {
	for _, tc := range []struct {
		name  string
		event event
	}{
		{"an ID with a line feed", event{ID: "1\ndata: x"}},
		{"an ID with a carriage return", event{ID: "1\rdata: x"}},
		{"an ID with a NUL byte", event{ID: "1\x00"}},
		{"a name with a line break", event{Name: "a\n\nevent: b"}},
		{"a negative retry time", event{Retry: -time.Second}},
	} {
		for _, accept := range []string{"text/event-stream", "application/jsonl"} {
			t.Run(tc.name+" "+accept, func(t *testing.T) {
				got, log := sendEvents(t, accept, event{Data: "first"}, tc.event, event{Data: "last"})
				if !strings.Contains(got, "first") || strings.Contains(got, "last") ||
					strings.Contains(got, tc.event.ID) && tc.event.ID != "" ||
					strings.Count(got, `"output":"SERIALIZE_ERROR"`) != 1 {
					t.Errorf("stream = %q, want the first event and an error", got)
				}
				if n := strings.Count(log, `"level":"error"`); n != 1 ||
					!strings.Contains(log, "of an event") {
					t.Errorf("log = %s, want the reason once", log)
				}
			})
		}
	}
}

func TestStream_KeepAlive(t *testing.T) {
	const quiet = 40 * time.Second // two comments
	for _, tc := range []struct {
		name   string
		accept string
		items  int
		err    error
		want   string
	}{
		{"before the first event", "text/event-stream", 1, nil, ":\n\n:\n\ndata: 0\n\n"},
		{
			"between events", "text/event-stream", 2, nil,
			":\n\n:\n\ndata: 0\n\n:\n\n:\n\ndata: 1\n\n",
		},
		{"not in JSON lines", "application/jsonl", 2, nil, "0\n1\n"},
		{
			"before an error", "text/event-stream", 0, xerror.New(xerror.NotFound, ""),
			":\n\n:\n\nevent: error\ndata: {",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
					xresult.Stream(c, func(yield func(int, error) bool) {
						for i := range tc.items {
							<-time.After(quiet)
							if !yield(i, nil) {
								return
							}
						}
						if tc.err != nil {
							<-time.After(quiet)
							yield(0, tc.err)
						}
					})
				}, "Accept", tc.accept)
				if got := w.Body.String(); w.Code != http.StatusOK || !strings.HasPrefix(got, tc.want) ||
					tc.err == nil && got != tc.want {
					t.Errorf("got %d %q, want %q", w.Code, got, tc.want)
				}
			})
		})
	}

	for name, end := range map[string]func(){
		"stops after the last event": func() {},
		"stops after a panic":        func() { panic(errors.New("a failure")) },
		"stops after runtime.Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := newEngine(t, func(c *gin.Context) {
					xresult.Stream(c, func(yield func(int, error) bool) {
						<-time.After(quiet)
						if yield(1, nil) {
							end()
						}
					})
				})
				w, done := httptest.NewRecorder(), make(chan struct{})
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
				req.Header.Set("Accept", "text/event-stream")
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					engine.ServeHTTP(w, req)
				}()
				<-done
				want := w.Body.String()
				<-time.After(10 * quiet)
				if got := w.Body.String(); got != want || !strings.Contains(got, "data: 1\n\n") {
					t.Errorf("body = %q after the stream, want %q", got, want)
				}
			})
		})
	}
}

// Idle streams need no goroutine of their own, and no goroutine remains after them.
func TestStream_Goroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const streams = 50
	waiting := make(chan struct{}, streams)
	s := httptest.NewServer(newEngine(t, func(c *gin.Context) {
		ctx := c.Request.Context()
		xresult.Stream(c, func(yield func(event, error) bool) {
			if yield(event{ID: "1"}, nil) {
				waiting <- struct{}{}
				<-ctx.Done()
			}
		})
	}))
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ctx, disconnect := context.WithCancel(t.Context())
	defer disconnect()
	for range streams {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); line != "id: 1\n" {
			t.Fatalf("line = %q, %v", line, err)
		}
		<-waiting
	}
	var stacks [1 << 20]byte
	text := string(stacks[:runtime.Stack(stacks[:], true)])
	if n := strings.Count(text, "xresult.(*stream)"); n > 0 {
		t.Errorf("%d frames of keepAlive while streams are idle, want 0", n)
	}
}
