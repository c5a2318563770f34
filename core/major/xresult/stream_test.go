package xresult_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// three yields 1, 2 and 3, and then err if it is not nil.
func three(err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range 3 {
			if !yield(i+1, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestStream_Format(t *testing.T) {
	const lines, events = "1\n2\n3\n", "data: 1\n\ndata: 2\n\ndata: 3\n\n"
	for _, tc := range []struct {
		name        string
		accept      string
		contentType string
		want        string
	}{
		{name: "no header", accept: "", contentType: "application/jsonl", want: lines},
		{name: "anything", accept: "*/*", contentType: "application/jsonl", want: lines},
		{name: "lines", accept: "application/jsonl", contentType: "application/jsonl", want: lines},
		{
			name: "lines by the older name", accept: "application/x-ndjson",
			contentType: "application/x-ndjson", want: lines,
		},
		{
			name: "events", accept: "text/event-stream", contentType: "text/event-stream",
			want: events,
		},
		{
			name: "events preferred", accept: "text/*, application/jsonl;q=0.5",
			contentType: "text/event-stream", want: events,
		},
		{name: "another type", accept: "image/png", contentType: "application/jsonl", want: lines},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, _ := serve(t, xhelper.Config{},
				func(c *gin.Context) { xresult.Stream(c, three(nil)) }, "Accept", tc.accept)
			if got := w.Body.String(); got != tc.want {
				t.Errorf("body = %q, want %q", got, tc.want)
			}
			if got := w.Header().Get("Content-Type"); got != tc.contentType {
				t.Errorf("Content-Type = %q, want %q", got, tc.contentType)
			}
			if got := w.Header().Get("Cache-Control"); got != "no-cache" {
				t.Errorf("Cache-Control = %q, want no-cache", got)
			}
		})
	}
}

func TestStream_Error(t *testing.T) {
	t.Run("writes a later error as the last item", func(t *testing.T) {
		const secret = "row 4 of table users"
		for accept, last := range map[string]string{
			"application/jsonl": `{"context":`,
			"text/event-stream": `data: {"context":`,
		} {
			t.Run(accept, func(t *testing.T) {
				w, log := serve(t, xhelper.Config{}, func(c *gin.Context) {
					xresult.Stream(c,
						three(xerror.Wrap(xerror.DatabaseError, "try again", errors.New(secret))))
				}, "Accept", accept)
				text := strings.TrimRight(w.Body.String(), "\n")
				final := text[strings.LastIndexByte(text, '\n')+1:]
				if !strings.HasPrefix(final, last) {
					t.Fatalf("last line %q does not start with %q", final, last)
				}
				wantFields(t, strings.TrimPrefix(final, "data: "), map[string]any{
					"output": "DATABASE_ERROR", "error_message": "try again",
					"context": w.Header().Get("X-Request-UUID"),
				})
				got := strings.Contains(text, "event: error\n")
				if got != (accept == "text/event-stream") {
					t.Errorf("the body contains an error event: %t", got)
				}
				if strings.Contains(text, secret) || !strings.Contains(log.String(), secret) {
					t.Errorf("body = %s, log = %s; want the cause in the log only", text, log)
				}
			})
		}
	})

	t.Run("responds normally to an error before the first item", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(int, error) bool) {
				yield(0, xerror.New(xerror.NotFound, ""))
			})
		})
		wantFields(t, w.Body.String(), map[string]any{"output": "NOT_FOUND"})
		if w.Code != http.StatusNotFound {
			t.Errorf("status = %d, want 404", w.Code)
		}
	})

	t.Run("ends at an item that cannot be encoded", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(any, error) bool) {
				_ = yield(1, nil) && yield(make(chan int), nil) && yield(3, nil)
			})
		})
		first, rest, _ := strings.Cut(w.Body.String(), "\n")
		if first != "1" {
			t.Errorf("first line = %q, want 1", first)
		}
		wantFields(t, rest, map[string]any{"output": "SERIALIZE_ERROR"})
	})
}

func TestStream(t *testing.T) {
	t.Run("writes an empty response without items", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.Stream(c, func(func(int, error) bool) {})
		})
		if w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("got %d %q, want an empty 200", w.Code, w.Body)
		}
	})

	t.Run("writes each item on one line", func(t *testing.T) {
		w, _ := serve(t, xhelper.Config{}, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(any, error) bool) {
				_ = yield(indented{}, nil) && yield("a\nb\u2028", nil)
			})
		}, "Accept", "text/event-stream")
		if got, want := w.Body.String(),
			"data: {\"a\":1}\n\ndata: \"a\\nb\\u2028\"\n\n"; got != want {
			t.Errorf("body = %q, want %q", got, want)
		}
	})

	t.Run("flushes each item", func(t *testing.T) {
		next := make(chan int)
		s := server(t, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(int, error) bool) {
				for i := range next {
					if !yield(i, nil) {
						return
					}
				}
			})
		})
		go func() { next <- 0 }()
		lines := bufio.NewScanner(open(t.Context(), t, http.MethodGet, s.URL).body)
		for i := range 5 {
			if !lines.Scan() || lines.Text() != fmt.Sprint(i) {
				t.Fatalf("line %d = %q, %v", i, lines.Text(), lines.Err())
			}
			if i < 4 {
				next <- i + 1 // the previous item has arrived
			}
		}
		close(next)
		if lines.Scan() {
			t.Errorf("unexpected line: %q", lines.Text())
		}
	})

	t.Run("ignores the timeouts of the server", func(t *testing.T) {
		const timeout = 200 * time.Millisecond
		s := httptest.NewUnstartedServer(newEngine(t, func(c *gin.Context) {
			ctx := c.Request.Context()
			xresult.Stream(c, func(yield func(int, error) bool) {
				for i := range 2 {
					if !yield(i, nil) {
						return
					}
					select {
					case <-time.After(2 * timeout):
					case <-ctx.Done():
					}
				}
				yield(2, ctx.Err())
			})
		}))
		s.Config.ReadTimeout = timeout
		s.Config.WriteTimeout = timeout
		s.Start()
		t.Cleanup(s.Close)
		body, err := io.ReadAll(open(t.Context(), t, http.MethodGet, s.URL).body)
		if string(body) != "0\n1\n2\n" || err != nil {
			t.Errorf("got %q, %v; want three lines", body, err)
		}
	})

	t.Run("stops when the client disconnects", func(t *testing.T) {
		stopped := make(chan struct{})
		s := server(t, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(string, error) bool) {
				defer close(stopped)
				for yield("tick", nil) {
				}
			})
		})
		ctx, disconnect := context.WithCancel(t.Context())
		res := open(ctx, t, http.MethodGet, s.URL)
		if _, err := io.ReadFull(res.body, make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		disconnect()
		<-stopped
	})

	t.Run("waits for a slow client", func(t *testing.T) {
		const (
			item     = 1 << 20
			inFlight = 64                     // items that the buffers of both sides may contain
			quiet    = 200 * time.Millisecond // the iterator is blocked after this time
		)
		produced := make(chan struct{}, 4*inFlight)
		s := server(t, func(c *gin.Context) {
			xresult.Stream(c, func(yield func(string, error) bool) {
				for range cap(produced) {
					if !yield(strings.Repeat("x", item), nil) {
						return
					}
					produced <- struct{}{}
				}
			})
		})
		res := open(t.Context(), t, http.MethodGet, s.URL)
		count := 0
		for blocked := false; !blocked; {
			select {
			case <-produced:
				if count++; count > inFlight {
					t.Fatalf("iterator produced %d unread items", count)
				}
			case <-time.After(quiet):
				blocked = true
			}
		}
		if _, err := io.CopyN(io.Discard, res.body, int64(count+4)*item); err != nil {
			t.Fatal(err)
		}
		<-produced // the iterator continues when the client reads
	})

	t.Run("does not call the iterator for HEAD", func(t *testing.T) {
		s := server(t, func(c *gin.Context) {
			xresult.Stream(c, func(func(int, error) bool) { t.Error("iterator was called") })
		})
		res := open(t.Context(), t, http.MethodHead, s.URL)
		if res.status != http.StatusOK || res.header.Get("Content-Type") != "application/jsonl" {
			t.Errorf("got %d %q", res.status, res.header.Get("Content-Type"))
		}
	})
}

// indented encodes itself as several lines.
type indented struct{}

func (indented) MarshalJSON() ([]byte, error) { return []byte("{\r\n \"a\": 1\n}"), nil }

func server(t *testing.T, handler gin.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(newEngine(t, handler))
	t.Cleanup(s.Close)
	return s
}

func newEngine(t *testing.T, handler gin.HandlerFunc) *gin.Engine {
	t.Helper()
	ctx, _ := capture(t)
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{Base: ctx}))
	engine.Match([]string{http.MethodGet, http.MethodHead, http.MethodPost}, "/", handler)
	return engine
}

// openResponse is a response with an unread body.
type openResponse struct {
	status int
	header http.Header
	length int64
	body   io.Reader
}

func open(ctx context.Context, t *testing.T, method, url string) openResponse {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return openResponse{
		status: res.StatusCode, header: res.Header, length: res.ContentLength, body: res.Body,
	}
}

func TestSuccessHasData_ContentLength(t *testing.T) {
	for _, size := range []int{0, 100, 1900, 2100, 100_000} {
		s := server(t, func(c *gin.Context) {
			xresult.SuccessHasData(c, "found", strings.Repeat("x", size))
		})
		full := open(t.Context(), t, http.MethodGet, s.URL)
		body, err := io.ReadAll(full.body)
		if err != nil || full.length != int64(len(body)) {
			t.Errorf("size %d: Content-Length = %d, body %d bytes, %v",
				size, full.length, len(body), err)
		}
		head := open(t.Context(), t, http.MethodHead, s.URL)
		if head.length < int64(size) || head.status != http.StatusOK {
			t.Errorf("size %d: HEAD: status %d, Content-Length %d", size, head.status, head.length)
		}
	}
}

func ExampleStream() {
	engine := gin.New()
	engine.GET("/", func(c *gin.Context) {
		xresult.Stream(c, func(yield func(string, error) bool) {
			for _, word := range []string{"one", "two"} {
				if !yield(word, nil) {
					return // the client disconnected
				}
			}
		})
	})
	fmt.Print(get(engine, "Accept", "application/jsonl").Body)
	// Output:
	// "one"
	// "two"
}
