package xresult_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

const requestTimeout = 10 * time.Second

func TestStream_RequestTimeout(t *testing.T) {
	for _, accept := range []string{
		"application/jsonl", "application/x-ndjson", "text/event-stream",
	} {
		t.Run(accept, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _ := serve(t, xhelper.Config{RequestTimeout: requestTimeout},
					func(c *gin.Context) {
						xresult.Stream(c, func(yield func(int, error) bool) {
							for i := range 3 {
								// longer than the timeout, also for the first item
								<-time.After(2 * requestTimeout)
								if !yield(i, c.Request.Context().Err()) {
									return
								}
							}
						})
					}, "Accept", accept)
				body := strings.NewReplacer(":\n\n", "", "data: ", "", "\n\n", "\n").Replace(w.Body.String())
				if w.Code != http.StatusOK || body != "0\n1\n2\n" {
					t.Errorf("got %d %q, want three items", w.Code, w.Body)
				}
			})
		})
	}
}

// A truncated response must not look complete.
func TestStream_ContextDone(t *testing.T) {
	stopping := xerror.Wrap(xerror.ServiceUnavailable, "the service is stopping", context.Canceled)
	ends := []struct {
		name  string
		cause error
		want  string
		lines int // at ERROR
	}{
		{"shutdown", stopping, "SERVICE_UNAVAILABLE", 0},
		{"deadline", context.DeadlineExceeded, "GATEWAY_TIMEOUT", 1},
		{"cancellation", context.Canceled, "CANCELED", 0},
	}
	iterators := map[string]func(ctx context.Context, end func(), yield func(int, error) bool){
		"before an item": func(_ context.Context, end func(), yield func(int, error) bool) {
			end()
			yield(2, nil)
		},
		"reported by the iterator": func(
			ctx context.Context, end func(), yield func(int, error) bool,
		) {
			end()
			yield(0, ctx.Err())
		},
		"after the last item": func(_ context.Context, end func(), _ func(int, error) bool) {
			end()
		},
	}
	for _, tc := range ends {
		for name, rest := range iterators {
			for _, accept := range []string{"application/jsonl", "text/event-stream"} {
				t.Run(tc.name+" "+name+" "+accept, func(t *testing.T) {
					code, body, log := streamUntil(t, accept, tc.cause, rest)
					first, last, _ := strings.Cut(body, "\n")
					if code != http.StatusOK || strings.TrimPrefix(first, "data: ") != "1" {
						t.Fatalf("got %d %q, want an item first", code, body)
					}
					last = strings.TrimPrefix(strings.TrimSpace(last), "event: error\ndata: ")
					wantFields(t, last, map[string]any{"output": tc.want})
					if got := strings.Count(log, `"level":"error"`); got != tc.lines {
						t.Errorf("%d lines at ERROR, want %d: %s", got, tc.lines, log)
					}
				})
			}
		}
	}
}

// streamUntil serves a stream of one item and then calls rest, which can end the
// request's context.
func streamUntil(
	t *testing.T, accept string, cause error,
	rest func(ctx context.Context, end func(), yield func(int, error) bool),
) (code int, body, logged string) {
	t.Helper()
	base, log := capture(t)
	engine := gin.New()
	engine.Use(xhelper.Serve(xhelper.Config{Base: base}))
	engine.GET("/", func(c *gin.Context) {
		ctx := &endingContext{Context: c.Request.Context(), done: make(chan struct{})}
		derived, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		c.Request = c.Request.WithContext(derived)
		end := func() { cancel(cause) }
		if cause == context.DeadlineExceeded { //nolint:errorlint // the table has the value itself
			end = func() { ctx.end(cause); <-derived.Done() }
		}
		xresult.Stream(c, func(yield func(int, error) bool) {
			if yield(1, nil) {
				rest(derived, end, yield)
			}
		})
	})
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	req.Header.Set("Accept", accept)
	engine.ServeHTTP(w, req)
	return w.Code, w.Body.String(), log.String()
}

// endingContext is a context that ends with an arbitrary error.
type endingContext struct {
	context.Context
	done chan struct{}
	err  error
}

func (c *endingContext) end(err error) { c.err = err; close(c.done) }

// Done implements context.Context.
func (c *endingContext) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c *endingContext) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

func TestStream_AccessLog(t *testing.T) {
	_, _, log := streamUntil(t, "application/jsonl", context.Canceled,
		func(_ context.Context, end func(), yield func(int, error) bool) {
			end()
			yield(2, nil)
		})
	want := fmt.Sprintf(`"error_code":%d`, xerror.Canceled.GetCode())
	if !strings.Contains(log, want) {
		t.Errorf("access log does not contain %s: %s", want, log)
	}
}
