package receiver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// newRequest returns a request with a context, and the recorder of its response.
func newRequest(
	ctx context.Context, header http.Header, body string,
) (*httptest.ResponseRecorder, *http.Request) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/hook", strings.NewReader(body))
	r.Header = header
	return httptest.NewRecorder(), r
}

// serveBare is like serve, without ResponseMiddleware.
func serveBare(
	t *testing.T, secret signature.Secret, handler gin.HandlerFunc,
	opts ...receiver.MiddlewareOption,
) *gin.Engine {
	t.Helper()
	v, err := receiver.NewVerifier([]signature.Secret{secret},
		receiver.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	engine := gin.New()
	engine.POST("/hook", receiver.Middleware(v, opts...), handler)
	return engine
}

func TestWithSeen_Disconnect(t *testing.T) {
	secret := signature.NewSecret()
	forgetErr := make(chan error, 1)
	var disconnect context.CancelFunc
	engine := serve(t, secret, func(c *gin.Context) {
		disconnect()
		xresult.Fail(c, errors.New("no"))
	}, receiver.WithSeen(
		func(context.Context, string) (bool, error) { return true, nil },
		func(ctx context.Context, _ string) error {
			forgetErr <- ctx.Err()
			return nil
		}))
	var ctx context.Context
	ctx, disconnect = context.WithCancel(t.Context())
	defer disconnect()
	w, r := newRequest(ctx, headers("msg_1", now, "{}", secret), "{}")
	engine.ServeHTTP(w, r)
	select {
	case err := <-forgetErr:
		if err != nil {
			t.Errorf("the context of forget: %v, want a context that is not canceled", err)
		}
	default:
		t.Error("forget was not called")
	}
}

func TestWithSeen_EmptyResponse(t *testing.T) {
	t.Run("sends an empty 200 only if the handler set it", func(t *testing.T) {
		capture(t)
		secret := signature.NewSecret()
		for _, h := range []struct {
			name    string
			handler gin.HandlerFunc
			first   int
			calls   int
		}{
			{
				"200 without a body",
				func(c *gin.Context) { c.Status(http.StatusOK) }, http.StatusOK, 1,
			},
			{"nothing set", func(*gin.Context) {}, http.StatusInternalServerError, 3},
			{"200 and an error", func(c *gin.Context) {
				c.Status(http.StatusOK)
				_ = c.Error(errors.New("no"))
			}, http.StatusInternalServerError, 3},
		} {
			calls, cache := 0, &ids{seen: map[string]bool{}}
			engine := serve(t, secret, func(c *gin.Context) {
				calls++
				h.handler(c)
			}, receiver.WithSeen(cache.first, cache.forget))
			for n := range 3 {
				w, r := newRequest(t.Context(), headers("msg_1", now, "{}", secret), "{}")
				engine.ServeHTTP(w, r)
				if n == 0 && w.Code != h.first {
					t.Errorf("%s: %d, want %d", h.name, w.Code, h.first)
				}
			}
			if calls != h.calls {
				t.Errorf("%s: %d calls, want %d", h.name, calls, h.calls)
			}
		}
	})

	t.Run("stores the ID for an empty 200 without ResponseMiddleware", func(t *testing.T) {
		secret := signature.NewSecret()
		cache, calls := &ids{seen: map[string]bool{}}, 0
		engine := serveBare(t, secret, func(c *gin.Context) {
			calls++
			c.Status(http.StatusOK)
		}, receiver.WithSeen(cache.first, cache.forget))
		for range 3 {
			w, r := newRequest(t.Context(), headers("msg_1", now, "{}", secret), "{}")
			engine.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
		}
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	})
}
