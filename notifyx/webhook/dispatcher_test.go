package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func dispatcher(
	t *testing.T, endpoints webhook.Endpoints, c *webhook.Client, opts ...webhook.DispatcherOption,
) *webhook.Dispatcher {
	t.Helper()
	d, err := webhook.NewDispatcher(endpoints, c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shopOnly returns endpoints with the single receiver "shop".
func shopOnly(url string) webhook.StaticEndpoints {
	return webhook.StaticEndpoints{"shop": endpoint(url)}
}

// endpointFunc implements webhook.Endpoints with one result for every ID.
type endpointFunc func() (webhook.Endpoint, error)

// Endpoint implements webhook.Endpoints.
func (f endpointFunc) Endpoint(context.Context, string) (webhook.Endpoint, error) { return f() }

func TestSchedule(t *testing.T) {
	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	if len(want) != webhook.MaxAttempts-1 {
		t.Fatalf("%d delays for %d attempts", len(want), webhook.MaxAttempts)
	}
	policy := webhook.Schedule()
	spread := map[time.Duration]bool{}
	for i, w := range want {
		for range 100 {
			got := policy(i + 1)
			if float64(got) < 0.9*float64(w) || float64(got) > 1.1*float64(w) {
				t.Errorf("after attempt %d: %s, want about %s", i+1, got, w)
			}
			spread[got] = true
		}
	}
	if len(spread) < 100 {
		t.Errorf("only %d different delays", len(spread))
	}
}

func TestDispatcher_Handler(t *testing.T) {
	t.Run("retries with the same ID and body and a new signature", func(t *testing.T) {
		got := make(chan received, 1)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			record(got)(&failingWriter{w}, r)
		})
		clock := time.Unix(1_700_000_000, 0)
		c := newClient(t, webhook.WithClock(func() time.Time { return clock }),
			webhook.WithoutBreaker())
		d := dispatcher(t, shopOnly(s.URL), c)
		ctx, e := newEngine(t)
		id, err := d.Enqueue(ctx, "shop",
			webhook.Event{Type: "order.paid", Data: map[string]any{"order": 17, "note": "<ok>"}})
		if err != nil {
			t.Fatal(err)
		}
		e.work(t, ctx, d.Handler())
		var body []byte
		for n := 1; n <= webhook.MaxAttempts; n++ {
			o := e.attempt(t)
			r := <-got
			if r.header.Get("Webhook-Id") != id {
				t.Errorf("attempt %d: id %q, want %q", n, r.header.Get("Webhook-Id"), id)
			}
			if body == nil {
				body = r.body
			}
			if !bytes.Equal(r.body, body) ||
				!bytes.Contains(body, []byte(`"timestamp":"2023-11-14T22:13:20Z"`)) {
				t.Errorf("attempt %d: body %s, want the body of the first", n, r.body)
			}
			v, err := receiver.NewVerifier([]signature.Secret{signature.MustParseSecret(vector)},
				receiver.WithClock(func() time.Time { return clock }))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Verify(r.header, r.body); err != nil {
				t.Errorf("attempt %d: %v", n, err)
			}
			want := driver.Retry
			if n == webhook.MaxAttempts {
				want = driver.Discard
			}
			if o.Action != want {
				t.Errorf("attempt %d: %+v", n, o)
			}
			if wait := []time.Duration{5 * time.Second, 5 * time.Minute}; n <= 2 &&
				(o.Wait < wait[n-1]*9/10 || o.Wait > wait[n-1]*11/10) {
				t.Errorf("attempt %d: waits %s", n, o.Wait)
			}
			clock = clock.Add(time.Hour)
		}
	})

	t.Run("maps results to job outcomes", func(t *testing.T) {
		respondWith := func(status int, header ...string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				if len(header) == 2 {
					w.Header().Set(header[0], header[1])
				}
				w.WriteHeader(status)
			}
		}
		fail := func(err error) webhook.Endpoints {
			return endpointFunc(func() (webhook.Endpoint, error) { return webhook.Endpoint{}, err })
		}
		at := func(url string) webhook.Endpoints { return shopOnly(url) }
		for _, c := range []struct {
			name        string
			handler     http.HandlerFunc
			endpoints   webhook.Endpoints
			want        driver.Action
			least, most time.Duration
		}{
			{name: "200", handler: respondWith(200), want: driver.Complete},
			{name: "204", handler: respondWith(204), want: driver.Complete},
			{name: "410", handler: respondWith(410), want: driver.Discard},
			{
				name: "400", handler: respondWith(400), want: driver.Retry, least: 4 * time.Second,
				most: 6 * time.Second,
			},
			{
				name: "500", handler: respondWith(500), want: driver.Retry, least: 4 * time.Second,
				most: 6 * time.Second,
			},
			{
				name:    "a redirect",
				handler: respondWith(302, "Location", "http://169.254.169.254/"),
				want:    driver.Retry, least: 4 * time.Second, most: 6 * time.Second,
			},
			{
				name:    "429 for a minute",
				handler: respondWith(429, "Retry-After", "60"), want: driver.Retry,
				least: time.Minute, most: time.Minute,
			},
			{
				name:    "429 for less than the schedule",
				handler: respondWith(429, "Retry-After", "1"),
				want:    driver.Retry, least: 4 * time.Second, most: 6 * time.Second,
			},
			{
				name: "503 for a year", handler: respondWith(503, "Retry-After", "31536000"),
				want: driver.Retry, least: 24 * time.Hour, most: 24 * time.Hour,
			},
			{
				name:      "connection refused",
				endpoints: at("http://127.0.0.1:1/"), want: driver.Retry,
				least: 4 * time.Second, most: 6 * time.Second,
			},
			{name: "a blocked address", endpoints: at("http://10.0.0.1/"), want: driver.Discard},
			{name: "invalid URL", endpoints: at("ftp://example.com/"), want: driver.Discard},
			{
				name: "an unknown receiver", endpoints: webhook.StaticEndpoints{},
				want: driver.Discard,
			},
			{
				name:      "no secret",
				endpoints: webhook.StaticEndpoints{"shop": {URL: "http://127.0.0.1:1/"}},
				want:      driver.Discard,
			},
			{
				name: "unavailable endpoints", endpoints: fail(errors.New("database down")),
				want: driver.Retry, least: 4 * time.Second, most: 6 * time.Second,
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				out := capture(t)
				endpoints := c.endpoints
				if c.handler != nil {
					endpoints = shopOnly(serve(t, c.handler).URL)
				}
				d := dispatcher(t, endpoints, newClient(t))
				ctx, e := newEngine(t)
				if _, err := d.Enqueue(ctx, "shop",
					webhook.Event{Type: "a", Data: "payload-token"}); err != nil {
					t.Fatal(err)
				}
				e.work(t, ctx, d.Handler())
				o := e.attempt(t)
				if o.Action != c.want || o.Wait < c.least || o.Wait > c.most {
					t.Errorf("outcome = %+v, want action %d and a wait of %s to %s",
						o, c.want, c.least, c.most)
				}
				for _, leak := range []string{"payload-token", "http://", "MfKQ9r8"} {
					if strings.Contains(o.Error+out.String(), leak) {
						t.Errorf("%q is in the error or in the log: %s\n%s", leak, o.Error, out)
					}
				}
			})
		}
	})

	t.Run("calls the function of WithOnGone", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
		})
		var called []string
		failures := 1
		d := dispatcher(t, shopOnly(s.URL), newClient(t),
			webhook.WithOnGone(func(_ context.Context, id string) error {
				called = append(called, id)
				if failures--; failures >= 0 {
					return errors.New("database down")
				}
				return nil
			}))
		ctx, e := newEngine(t)
		if _, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "a", Data: 1}); err != nil {
			t.Fatal(err)
		}
		e.work(t, ctx, d.Handler())
		if o := e.attempt(t); o.Action != driver.Retry {
			t.Errorf("onGone failed: %+v, want Retry", o)
		}
		if o := e.attempt(t); o.Action != driver.Discard {
			t.Errorf("onGone succeeded: %+v, want Discard", o)
		}
		if len(called) != 2 || called[0] != "shop" {
			t.Errorf("calls = %v", called)
		}
	})

	t.Run("uses the current endpoint for retries", func(t *testing.T) {
		got := make(chan received, 2)
		s := serve(t, record(got))
		newer := signature.NewSecret()
		current := endpoint("http://127.0.0.1:1/url-token")
		d := dispatcher(t, endpointFunc(func() (webhook.Endpoint, error) { return current, nil }),
			newClient(t))
		ctx, e := newEngine(t)
		if _, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "a", Data: 1}); err != nil {
			t.Fatal(err)
		}
		for _, r := range e.jobs {
			if text := string(r.Args); strings.Contains(text, "url-token") ||
				strings.Contains(text, "whsec") || strings.Contains(text, "MfKQ9r8") {
				t.Errorf("args = %s", text)
			}
		}
		e.work(t, ctx, d.Handler())
		e.attempt(t)
		current.URL, current.Secrets = s.URL, []signature.Secret{newer}
		if o := e.attempt(t); o.Action != driver.Complete {
			t.Fatalf("outcome = %+v", o)
		}
		r := <-got
		if err := verify(t, r, newer); err != nil {
			t.Error(err)
		}
	})
}

// failingWriter responds with 500 to every write.
type failingWriter struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (w *failingWriter) Write([]byte) (int, error) {
	w.WriteHeader(http.StatusInternalServerError)
	return 0, nil
}

func TestDispatcher_Handler_OpenCircuit(t *testing.T) {
	var hits atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	})
	d := dispatcher(t, shopOnly(s.URL), newClient(t, webhook.WithFailures(2)))
	ctx, e := newEngine(t)
	if _, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "a", Data: 1}); err != nil {
		t.Fatal(err)
	}
	e.work(t, ctx, d.Handler())
	var total time.Duration // from the first to the tenth attempt
	for n, wait := range []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	} {
		o := e.attempt(t)
		if o.Action != driver.Retry || o.Wait < wait*9/10 || o.Wait > wait*11/10 {
			t.Errorf("attempt %d: %+v, want Retry after about %s", n+1, o, wait)
		}
		total += o.Wait
	}
	if o := e.attempt(t); o.Action != driver.Discard ||
		!strings.Contains(o.Error, "circuit is open") {
		t.Errorf("attempt 10: %+v, want Discard", o)
	}
	if total < 68*time.Hour || total > 84*time.Hour {
		t.Errorf("the tenth attempt is %s after the first, want about 76 h", total)
	}
	if n := hits.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	// The circuit stays open longer than the first delay of the schedule.
	if _, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "a", Data: 1}); err != nil {
		t.Fatal(err)
	}
	if o := e.attempt(t); o.Action != driver.Retry || o.Wait < 40*time.Second ||
		o.Wait > 72*time.Second {
		t.Errorf("the first attempt of another event: %+v, want Retry for about a minute", o)
	}
}

func TestDispatcher_Enqueue(t *testing.T) {
	d := dispatcher(t, webhook.StaticEndpoints{}, newClient(t, webhook.WithMaxPayload(200)))
	ctx, e := newEngine(t)
	for _, c := range []struct {
		name, endpoint string
		event          webhook.Event
		opts           []job.EnqueueOption
		want           error
	}{
		{"no type", "shop", webhook.Event{Data: 1}, nil, webhook.ErrEvent},
		{"no receiver", "", webhook.Event{Type: "a"}, nil, webhook.ErrUnknownEndpoint},
		{
			"data that cannot be encoded", "shop",
			webhook.Event{Type: "a", Data: math.Inf(1)},
			nil, webhook.ErrEvent,
		},
		{"invalid ID", "shop", webhook.Event{ID: "a.b", Type: "a"}, nil, webhook.ErrEvent},
		{
			"too large", "shop",
			webhook.Event{Type: "a", Data: strings.Repeat("a", 200)},
			nil,
			webhook.ErrPayloadTooLarge,
		},
		{
			"invalid job option", "shop",
			webhook.Event{Type: "a"},
			[]job.EnqueueOption{job.WithDelay(-1)},
			job.ErrOption,
		},
	} {
		if _, err := d.Enqueue(ctx, c.endpoint, c.event, c.opts...); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if len(e.jobs) != 0 {
		t.Errorf("%d jobs were stored", len(e.jobs))
	}
	if _, err := d.Enqueue(t.Context(), "shop", webhook.Event{Type: "a"}); err == nil {
		t.Error("no error without a queue")
	}
}

func TestDispatcher_EnqueueAll(t *testing.T) {
	d := dispatcher(t, webhook.StaticEndpoints{}, newClient(t))
	ctx, e := newEngine(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	id, err := d.EnqueueAll(ctx, []string{"a", "b"},
		webhook.Event{ID: "order-17", Type: "order.paid", Timestamp: at},
		job.WithJobPriority(job.PriorityHigh))
	if err != nil || id != "order-17" || len(e.jobs) != 2 {
		t.Fatalf("%q, %v, %d jobs", id, err, len(e.jobs))
	}
	for _, r := range e.jobs {
		var args map[string]any
		if err := json.Unmarshal(r.Args, &args); err != nil {
			t.Fatal(err)
		}
		if args["id"] != "order-17" || args["timestamp"] != "2026-01-02T02:04:05Z" ||
			r.Priority != 1 || r.Kind != webhook.JobKind {
			t.Errorf("job = %+v, args %v", r, args)
		}
	}
}
