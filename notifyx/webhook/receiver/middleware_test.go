package receiver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// serve returns an engine with the middleware and the handler at /hook.
func serve(
	t *testing.T, secret signature.Secret, handler gin.HandlerFunc,
	opts ...receiver.MiddlewareOption,
) *gin.Engine {
	t.Helper()
	v, err := receiver.NewVerifier([]signature.Secret{secret}, receiver.WithMaxBody(1000),
		receiver.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	engine := gin.New()
	engine.Use(xmiddle.ResponseMiddleware)
	engine.POST("/hook", receiver.Middleware(v, opts...), handler)
	return engine
}

// post sends a request to the engine.
func post(engine http.Handler, header http.Header, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/hook", body)
	r.Header = header
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

func TestMiddleware(t *testing.T) {
	t.Run("passes the verified body and delivery to the handler", func(t *testing.T) {
		secret := signature.NewSecret()
		const body = `{"type":"a"}`
		called := false
		engine := serve(t, secret, func(c *gin.Context) {
			called = true
			got, err := io.ReadAll(c.Request.Body)
			if err != nil || string(got) != body || c.Request.ContentLength != int64(len(body)) {
				t.Errorf("body %q, length %d, %v", got, c.Request.ContentLength, err)
			}
			for _, ctx := range []context.Context{c, c.Request.Context()} {
				if d, ok := receiver.DeliveryFrom(ctx); !ok || d.ID != "msg_1" ||
					!d.Timestamp.Equal(now) {
					t.Errorf("DeliveryFrom = %+v, %v", d, ok)
				}
			}
			xresult.Success(c, "ok")
		})
		// a reader without a known length, as in a chunked request
		if w := post(engine, headers("msg_1", now, body, secret),
			io.MultiReader(strings.NewReader(body))); w.Code != http.StatusOK || !called {
			t.Errorf("status %d, called %v, %s", w.Code, called, w.Body)
		}
		if _, ok := receiver.DeliveryFrom(t.Context()); ok {
			t.Error("DeliveryFrom found a delivery in an empty context")
		}
	})

	t.Run("rejects invalid requests with the same response", func(t *testing.T) {
		out := capture(t)
		secret := signature.NewSecret()
		const body = `{"type":"a"}`
		engine := serve(t, secret, func(*gin.Context) { t.Error("the handler was called") })
		responses := map[string]bool{}
		for name, h := range map[string]http.Header{
			"nothing":        {},
			"invalid ID":     headers("a.b", now, body, secret),
			"too old":        headers("msg_1", now.Add(-time.Hour), body, secret),
			"another secret": headers("msg_1", now, body, signature.NewSecret()),
			"another body":   headers("msg_1", now, body+" ", secret),
		} {
			w := post(engine, h, strings.NewReader(body))
			if w.Code != http.StatusUnauthorized ||
				!strings.Contains(w.Body.String(), "SIGNATURE_INVALID") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			text := w.Body.String()
			// contain the ID and the time of the request
			for _, field := range []string{"context", "overhead"} {
				if i := strings.Index(text, `"`+field+`"`); i >= 0 {
					end := strings.IndexAny(text[i:], ",}")
					text = text[:i] + text[i+end:]
				}
			}
			responses[text] = true
		}
		if len(responses) != 1 {
			t.Errorf("responses differ: %v", responses)
		}
		if strings.Contains(out.String(), secret.Reveal()) {
			t.Error("the log contains the secret")
		}
	})

	t.Run("reads the body up to the limit and after valid headers only", func(t *testing.T) {
		secret := signature.NewSecret()
		engine := serve(t, secret, func(c *gin.Context) { xresult.Success(c, "ok") })
		long := strings.Repeat("a", 1001)
		for name, body := range map[string]io.Reader{
			"length known":   strings.NewReader(long),
			"length unknown": io.MultiReader(strings.NewReader(long)),
		} {
			w := post(engine, headers("msg_1", now, long, secret), body)
			if w.Code != http.StatusRequestEntityTooLarge ||
				!strings.Contains(w.Body.String(), "PAYLOAD_TOO_LARGE") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		if w := post(engine, headers("msg_1", now, long[:1000], secret),
			strings.NewReader(long[:1000])); w.Code != http.StatusOK {
			t.Errorf("at the limit: %d %s", w.Code, w.Body)
		}
		body := &trackedReader{Reader: strings.NewReader("{}")}
		if w := post(engine, http.Header{}, body); w.Code != http.StatusUnauthorized || body.read {
			t.Errorf("without headers: %d, read %v", w.Code, body.read)
		}
	})

	t.Run("rejects a truncated body", func(t *testing.T) {
		secret := signature.NewSecret()
		engine := serve(t, secret, func(*gin.Context) { t.Error("the handler was called") })
		broken := io.MultiReader(strings.NewReader("{"), failing{})
		if w := post(engine, headers("msg_1", now, "{", secret),
			broken); w.Code != http.StatusBadRequest {
			t.Errorf("status %d %s", w.Code, w.Body)
		}
	})

	t.Run("panics for nil arguments", func(t *testing.T) {
		for name, f := range map[string]func(){
			"no verifier": func() { receiver.Middleware(nil) },
			"no first":    func() { receiver.WithSeen(nil, (&ids{}).forget) },
			"no forget":   func() { receiver.WithSeen((&ids{}).first, nil) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}

// trackedReader records whether it was read.
type trackedReader struct {
	io.Reader
	read bool
}

// Read implements io.Reader.
func (w *trackedReader) Read(p []byte) (int, error) {
	w.read = true
	return w.Reader.Read(p)
}

// failing is a truncated body.
type failing struct{}

// Read implements io.Reader.
func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ids is a fake ID cache.
type ids struct {
	mu   sync.Mutex
	seen map[string]bool
	err  error
}

func (i *ids) first(_ context.Context, id string) (bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	known := i.seen[id]
	i.seen[id] = true
	return !known, i.err
}

func (i *ids) forget(ctx context.Context, id string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.seen, id)
	return ctx.Err()
}

func TestWithSeen(t *testing.T) {
	t.Run("skips the handler for a duplicate unless it failed", func(t *testing.T) {
		secret := signature.NewSecret()
		for _, h := range []struct {
			name    string
			handler gin.HandlerFunc
			retried bool
		}{
			{"200 with a body", func(c *gin.Context) { xresult.Success(c, "ok") }, false},
			{"200 without a body", func(c *gin.Context) { c.Status(http.StatusOK) }, false},
			{"204", func(c *gin.Context) { c.Status(http.StatusNoContent) }, false},
			{"202", func(c *gin.Context) { c.AbortWithStatus(http.StatusAccepted) }, false},
			{"an error", func(c *gin.Context) { _ = c.Error(errors.New("no")) }, true},
			{
				"a failure response",
				func(c *gin.Context) { xresult.Fail(c, errors.New("no")) }, true,
			},
			{"503", func(c *gin.Context) { c.Status(http.StatusServiceUnavailable) }, true},
			{"302", func(c *gin.Context) { c.Redirect(http.StatusFound, "/") }, true},
			{"no response", func(*gin.Context) {}, true},
			{"a panic", func(*gin.Context) { panic("no") }, true},
		} {
			t.Run(h.name, func(t *testing.T) {
				capture(t)
				calls := 0
				cache := &ids{seen: map[string]bool{}}
				engine := serve(t, secret, func(c *gin.Context) {
					calls++
					h.handler(c)
				}, receiver.WithSeen(cache.first, cache.forget))
				request := func() (code int) {
					defer func() {
						if recover() != nil {
							code = http.StatusInternalServerError
						}
					}()
					return post(engine, headers("msg_1", now, "{}", secret),
						strings.NewReader("{}")).Code
				}
				first, second := request(), request()
				if retried := calls == 2; retried != h.retried {
					t.Errorf("the handler was called %d times", calls)
				}
				if !h.retried && second != http.StatusOK {
					t.Errorf("second request: %d, want 200", second)
				}
				if h.retried && second != first {
					t.Errorf("second request: %d, want %d", second, first)
				}
			})
		}
	})

	t.Run("does not store the ID of an invalid request", func(t *testing.T) {
		secret := signature.NewSecret()
		cache := &ids{seen: map[string]bool{}}
		engine := serve(t, secret, func(c *gin.Context) { xresult.Success(c, "ok") },
			receiver.WithSeen(cache.first, cache.forget))
		post(engine, headers("msg_1", now, "{}", signature.NewSecret()), strings.NewReader("{}"))
		if len(cache.seen) != 0 {
			t.Errorf("stored IDs: %v", cache.seen)
		}
	})

	t.Run("rejects the request if first fails", func(t *testing.T) {
		capture(t)
		secret := signature.NewSecret()
		cache := &ids{seen: map[string]bool{}, err: errors.New("cache down")}
		engine := serve(t, secret, func(*gin.Context) { t.Error("the handler was called") },
			receiver.WithSeen(cache.first, cache.forget))
		w := post(engine, headers("msg_1", now, "{}", secret), strings.NewReader("{}"))
		if w.Code != http.StatusInternalServerError ||
			bytes.Contains(w.Body.Bytes(), []byte("cache down")) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
