package webhook_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// verify verifies a received request with a secret.
func verify(t *testing.T, r received, secret signature.Secret) error {
	t.Helper()
	v, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Verify(r.header, r.body)
	return err
}

// received is a request that a test server received.
type received struct {
	header http.Header
	body   []byte
	method string
	proto  string
}

// record returns a handler that responds with 200 and sends each request to got.
func record(got chan<- received) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header.Clone(), body, r.Method, r.Proto}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1", MaxAge: 100})
		_, _ = w.Write([]byte("thanks"))
	}
}

// trust returns an option that trusts the certificate of s.
func trust(s *httptest.Server) webhook.Option {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return webhook.WithRootCAs(pool)
}

func TestClient_Send(t *testing.T) {
	t.Run("sends the request of the specification", func(t *testing.T) {
		got := make(chan received, 1)
		s := httptest.NewUnstartedServer(record(got))
		s.EnableHTTP2 = true
		s.StartTLS()
		t.Cleanup(s.Close)
		at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 8*3600))
		signed := time.Now()
		c := newClient(t, trust(s), webhook.WithClock(func() time.Time { return signed }))
		to := endpoint(s.URL + "/hook?tenant=1")
		to.Header = http.Header{"Authorization": {"Bearer t"}}
		result, err := c.Send(t.Context(), to, webhook.Event{
			ID: "msg_1", Type: "user.created", Timestamp: at, Data: map[string]int{"id": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if result.ID != "msg_1" || result.Status != http.StatusOK || result.Duration <= 0 {
			t.Errorf("Result = %+v", result)
		}
		r := <-got
		if r.method != http.MethodPost || r.proto != "HTTP/1.1" {
			t.Errorf("%s over %s, want POST over HTTP/1.1", r.method, r.proto)
		}
		const body = `{"type":"user.created","timestamp":"2026-01-01T19:04:05.006Z",` +
			`"data":{"id":1}}`
		if string(r.body) != body {
			t.Errorf("body = %s, want %s", r.body, body)
		}
		reference, err := standardwebhooks.NewWebhook(vector)
		if err != nil {
			t.Fatal(err)
		}
		if err := reference.Verify(r.body, r.header); err != nil {
			t.Error(err)
		}
		want := []string{
			"Authorization", "Connection", "Content-Length", "Content-Type", "User-Agent",
			"Webhook-Id", "Webhook-Signature", "Webhook-Timestamp",
		}
		if names := slices.Sorted(maps.Keys(r.header)); !slices.Equal(names, want) {
			t.Errorf("headers = %v, want %v", names, want)
		}
		if ct, ua := r.header.Get("Content-Type"),
			r.header.Get("User-Agent"); ct != "application/json" || ua != "Plinth-Webhook/1" {
			t.Errorf("Content-Type %q, User-Agent %q", ct, ua)
		}
		if _, err := c.Send(t.Context(), to, webhook.Event{Type: "a"}); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.header.Get("Cookie") != "" {
			t.Error("the cookie of the first response was sent")
		}
	})

	t.Run("signs with every secret of a rotation", func(t *testing.T) {
		got := make(chan received, 1)
		s := serve(t, record(got))
		older, newer := signature.NewSecret(), signature.NewSecret()
		to := endpoint(s.URL)
		to.Secrets = []signature.Secret{newer, older}
		if _, err := newClient(t).Send(t.Context(), to, webhook.Event{Type: "a"}); err != nil {
			t.Fatal(err)
		}
		r := <-got
		if !strings.HasPrefix(r.header.Get("Webhook-Id"), "msg_") {
			t.Errorf("id %q", r.header.Get("Webhook-Id"))
		}
		for _, secret := range []signature.Secret{older, newer} {
			if err := verify(t, r, secret); err != nil {
				t.Error(err)
			}
			reference, err := standardwebhooks.NewWebhook(secret.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			if err := reference.Verify(r.body, r.header); err != nil {
				t.Errorf("reference: %v", err)
			}
		}
	})

	t.Run("encodes the body as JSON", func(t *testing.T) {
		got := make(chan received, 1)
		s := serve(t, record(got))
		if _, err := newClient(t).Send(t.Context(), endpoint(s.URL),
			webhook.Event{Type: "a", Data: "<中文> & \u2028"}); err != nil {
			t.Fatal(err)
		}
		var body struct {
			Type      string
			Timestamp time.Time
			Data      string
		}
		if err := json.Unmarshal((<-got).body, &body); err != nil || body.Data != "<中文> & \u2028" ||
			time.Since(body.Timestamp) > time.Minute {
			t.Errorf("body = %+v, %v", body, err)
		}
	})

	t.Run("is accepted by the middleware", func(t *testing.T) {
		secret := signature.NewSecret()
		v, err := receiver.NewVerifier([]signature.Secret{secret})
		if err != nil {
			t.Fatal(err)
		}
		engine := gin.New()
		got := make(chan string, 1)
		engine.POST("/hook", receiver.Middleware(v), func(c *gin.Context) {
			d, _ := receiver.DeliveryFrom(c)
			got <- d.ID
			xresult.Success(c, "ok")
		})
		s := httptest.NewServer(engine)
		t.Cleanup(s.Close)
		to := endpoint(s.URL + "/hook")
		to.Secrets = []signature.Secret{signature.NewSecret(), secret}
		result, err := newClient(t).Send(t.Context(), to,
			webhook.Event{Type: "a", Data: map[string]string{"k": "v"}})
		if err != nil || <-got != result.ID {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestClient_Send_Response(t *testing.T) {
	t.Run("succeeds for 2xx only", func(t *testing.T) {
		var status atomic.Int32
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(int(status.Load()))
		})
		c := newClient(t, webhook.WithoutBreaker())
		for code := 200; code < 600; code++ {
			status.Store(int32(code))
			result, err := c.Send(t.Context(), endpoint(s.URL), webhook.Event{Type: "a"})
			if result.Status != code {
				t.Fatalf("%d: Status = %d", code, result.Status)
			}
			if ok := code < 300; ok != (err == nil) || ok == errors.Is(err, webhook.ErrStatus) {
				t.Errorf("%d: error %v", code, err)
			}
			if got := errors.Is(err, webhook.ErrGone); got != (code == 410) {
				t.Errorf("%d: ErrGone %v", code, got)
			}
		}
	})

	t.Run("does not follow redirects", func(t *testing.T) {
		var reached atomic.Int32
		other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
		for _, location := range []string{
			"http://169.254.169.254/latest/meta-data/",
			other.URL, "/again", "http://[::1]/", "file:///etc/passwd", ":",
		} {
			for _, code := range []int{300, 301, 302, 303, 307, 308} {
				var hits atomic.Int32
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					hits.Add(1)
					w.Header().Set("Location", location)
					w.WriteHeader(code)
				})
				_, err := newClient(t).Send(t.Context(), endpoint(s.URL), webhook.Event{Type: "a"})
				var status *webhook.StatusError
				if !errors.Is(err, webhook.ErrStatus) || !errors.As(err, &status) ||
					status.Status != code {
					t.Errorf("%d to %s: %v, want ErrStatus", code, location, err)
				}
				if hits.Load() != 1 || strings.Contains(err.Error(), "169.254") {
					t.Errorf("%d to %s: %d requests, error %q", code, location, hits.Load(), err)
				}
			}
		}
		if n := reached.Load(); n != 0 {
			t.Errorf("redirect target received %d requests", n)
		}
	})
}

func TestClient_Send_RetryAfter(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, r := range []struct {
		name   string
		status int
		value  string
		want   time.Duration
	}{
		{"seconds", 429, "120", 2 * time.Minute},
		{"spaces", 503, "  7 ", 7 * time.Second},
		{"bad gateway", 502, "5", 5 * time.Second},
		{"gateway timeout", 504, "5", 5 * time.Second},
		{"a date", 429, at.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"a date in ANSI C format", 429, at.Add(time.Hour).Format(time.ANSIC), time.Hour},
		{"a date in the past", 429, at.Add(-time.Hour).Format(http.TimeFormat), time.Second},
		{"zero", 429, "0", time.Second},
		{"above the limit", 429, "864000", 24 * time.Hour},
		{"overflow", 429, "99999999999999999999999999", 24 * time.Hour},
		{"the largest number", 429, "18446744073709551615", 24 * time.Hour},
		{"a far date", 429, "Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour},
		{"negative", 429, "-5", 0},
		{"a fraction", 429, "1.5", 0},
		{"words", 429, "soon", 0},
		{"no header", 429, "", 0},
		{"another status", 500, "120", 0},
		{"a client error", 400, "120", 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", r.value)
				w.WriteHeader(r.status)
			})
			c := newClient(t, webhook.WithClock(func() time.Time { return at }))
			_, err := c.Send(t.Context(), endpoint(s.URL), webhook.Event{Type: "a"})
			if got, ok := webhook.RetryAfter(err); got != r.want || ok != (r.want > 0) {
				t.Errorf("RetryAfter = %s, %v, want %s", got, ok, r.want)
			}
		})
	}
}

func TestClient_Send_TLS(t *testing.T) {
	plain := func(http.ResponseWriter, *http.Request) {}
	unknown := httptest.NewTLSServer(http.HandlerFunc(plain))
	t.Cleanup(unknown.Close)
	_, err := newClient(t).Send(t.Context(), endpoint(unknown.URL), webhook.Event{Type: "a"})
	var certificate *tls.CertificateVerificationError
	if !errors.Is(err, webhook.ErrConnection) || !errors.As(err, &certificate) {
		t.Errorf("unknown authority: %v, want ErrConnection with its cause", err)
	}
	// The certificate of httptest is valid for 127.0.0.1 and example.com, not for
	// localhost.
	_, err = newClient(t, trust(unknown)).Send(t.Context(),
		endpoint(strings.Replace(unknown.URL, "127.0.0.1", "localhost", 1)),
		webhook.Event{Type: "a"})
	if !errors.Is(err, webhook.ErrConnection) {
		t.Errorf("another name: %v, want ErrConnection", err)
	}
	old := httptest.NewUnstartedServer(http.HandlerFunc(plain))
	old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	if _, err = newClient(t, trust(old)).Send(t.Context(), endpoint(old.URL),
		webhook.Event{Type: "a"}); !errors.Is(err, webhook.ErrConnection) {
		t.Errorf("TLS 1.1: %v, want ErrConnection", err)
	}
}
