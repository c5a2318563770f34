package webhook_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
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

// verify checks what a receiver got with its secret.
func verify(t *testing.T, r received, secret signature.Secret) error {
	t.Helper()
	v, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Verify(r.header, r.body)
	return err
}

// received is what a receiver got.
type received struct {
	header http.Header
	body   []byte
	method string
	proto  string
}

// record answers 200 and hands on what came.
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

func TestSendIsAsTheSpecificationHasIt(t *testing.T) {
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
		ID: "msg_1", Type: "user.created",
		Timestamp: at, Data: map[string]int{"id": 1},
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
	if want := `{"type":"user.created","timestamp":"2026-01-01T19:04:05.006Z","data":{"id":1}}`; string(r.body) != want {
		t.Errorf("body = %s, want %s", r.body, want)
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
		t.Error("the cookie of the first answer was sent back")
	}
}

func TestDuringARotationEitherSecretVerifies(t *testing.T) {
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
}

func TestOnly2xxIsSuccess(t *testing.T) {
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
}

func TestRedirectsAreNotFollowed(t *testing.T) {
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
		t.Errorf("the other server got %d requests", n)
	}
}

func TestRetryAfter(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, r := range []struct {
		name   string
		status int
		value  string
		want   time.Duration
	}{
		{"seconds", 429, "120", 2 * time.Minute},
		{"with blanks", 503, "  7 ", 7 * time.Second},
		{"bad gateway", 502, "5", 5 * time.Second},
		{"gateway timeout", 504, "5", 5 * time.Second},
		{"a date", 429, at.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"a date in another form", 429, at.Add(time.Hour).Format(time.ANSIC), time.Hour},
		{"a date that has passed", 429, at.Add(-time.Hour).Format(http.TimeFormat), time.Second},
		{"zero", 429, "0", time.Second},
		{"too much", 429, "864000", 24 * time.Hour},
		{"beyond all numbers", 429, "99999999999999999999999999", 24 * time.Hour},
		{"the largest number", 429, "18446744073709551615", 24 * time.Hour},
		{"a far date", 429, "Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour},
		{"negative", 429, "-5", 0},
		{"a fraction", 429, "1.5", 0},
		{"words", 429, "soon", 0},
		{"none", 429, "", 0},
		{"another status", 500, "120", 0},
		{"a client's mistake", 400, "120", 0},
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

func TestWhatCannotBeSentIsRefusedBeforeTheNetwork(t *testing.T) {
	var reached atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	c := newClient(t, webhook.WithMaxPayload(100))
	good := webhook.Event{Type: "a"}
	with := func(change func(e *webhook.Endpoint)) webhook.Endpoint {
		e := endpoint(s.URL)
		change(&e)
		return e
	}
	header := func(name, value string) webhook.Endpoint {
		return with(func(e *webhook.Endpoint) { e.Header = http.Header{name: {value}} })
	}
	for _, w := range []struct {
		name  string
		to    webhook.Endpoint
		event webhook.Event
		want  error
	}{
		{
			"no endpoint id", with(func(e *webhook.Endpoint) { e.ID = "" }), good,
			webhook.ErrEndpoint,
		},
		{
			"no secret", with(func(e *webhook.Endpoint) { e.Secrets = nil }), good,
			webhook.ErrEndpoint,
		},
		{"an empty secret", with(func(e *webhook.Endpoint) {
			e.Secrets = append(e.Secrets, signature.Secret{})
		}), good, webhook.ErrEndpoint},
		{"own id header", header("webhook-id", "x"), good, webhook.ErrEndpoint},
		{"own signature", header("WEBHOOK-SIGNATURE", "x"), good, webhook.ErrEndpoint},
		{"own length", header("Content-Length", "0"), good, webhook.ErrEndpoint},
		{"smuggling", header("Transfer-Encoding", "chunked"), good, webhook.ErrEndpoint},
		{"expect", header("Expect", "100-continue"), good, webhook.ErrEndpoint},
		{"header name injection", header("X-A\r\nX-B", "x"), good, webhook.ErrEndpoint},
		{"header value injection", header("X-A", "x\r\nX-B: y"), good, webhook.ErrEndpoint},
		{"no type", endpoint(s.URL), webhook.Event{}, webhook.ErrEvent},
		{
			"id with a full stop",
			endpoint(s.URL),
			webhook.Event{ID: "a.b", Type: "a"},
			webhook.ErrEvent,
		},
		{
			"id with a line break",
			endpoint(s.URL),
			webhook.Event{ID: "a\r\nX: y", Type: "a"},
			webhook.ErrEvent,
		},
		{
			"long id", endpoint(s.URL),
			webhook.Event{ID: strings.Repeat("a", 201), Type: "a"},
			webhook.ErrEvent,
		},
		{
			"data that is no JSON",
			endpoint(s.URL),
			webhook.Event{Type: "a", Data: math.NaN()},
			webhook.ErrEvent,
		},
		{
			"large data", endpoint(s.URL),
			webhook.Event{Type: "a", Data: strings.Repeat("a", 100)},
			webhook.ErrPayloadTooLarge,
		},
	} {
		if _, err := c.Send(t.Context(), w.to, w.event); !errors.Is(err, w.want) {
			t.Errorf("%s: %v, want %v", w.name, err, w.want)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTheDefaultPayloadIsBounded(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})
	c := newClient(t)
	send := func(n int) error {
		event := webhook.Event{Type: "a", Timestamp: time.Unix(0, 0), Data: ""}
		empty, err := json.Marshal(map[string]any{
			"type":      "a",
			"timestamp": event.Timestamp.UTC(), "data": "",
		})
		if err != nil {
			t.Fatal(err)
		}
		event.Data = strings.Repeat("p", n-len(empty))
		_, err = c.Send(t.Context(), endpoint(s.URL), event)
		return err
	}
	if err := send(256 << 10); err != nil {
		t.Errorf("256 KiB: %v", err)
	}
	if err := send(256<<10 + 1); !errors.Is(err, webhook.ErrPayloadTooLarge) {
		t.Errorf("more: %v, want ErrPayloadTooLarge", err)
	}
}

func TestTLSIsVerified(t *testing.T) {
	plain := func(http.ResponseWriter, *http.Request) {}
	unknown := httptest.NewTLSServer(http.HandlerFunc(plain))
	t.Cleanup(unknown.Close)
	_, err := newClient(t).Send(t.Context(), endpoint(unknown.URL), webhook.Event{Type: "a"})
	var certificate *tls.CertificateVerificationError
	if !errors.Is(err, webhook.ErrConnection) || !errors.As(err, &certificate) {
		t.Errorf("unknown authority: %v, want ErrConnection with its cause", err)
	}
	// The certificate of httptest is for 127.0.0.1 and example.com, not for localhost.
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

func TestAllWrongOptionsAreToldAtOnce(t *testing.T) {
	_, err := webhook.New(webhook.WithTimeout(0), webhook.WithMaxPayload(0), webhook.WithPorts(0),
		webhook.WithAllowedNetworks(netip.Prefix{}))
	if !errors.Is(err, webhook.ErrOption) || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %v, want four problems", err)
	}
}

func TestTheBodyIsJSONForReceiversInOtherLanguages(t *testing.T) {
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
}

func TestWhatTheClientSendsTheMiddlewareAccepts(t *testing.T) {
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
}
