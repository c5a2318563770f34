package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/notifytest"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

type payload struct {
	Type string
	Data json.RawMessage
}

// hooks is a server with ten receivers.
type hooks struct {
	mu      sync.Mutex
	mode    notifytest.Mode
	arrived []notifytest.Arrival
}

// ServeHTTP implements http.Handler.
func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch h.mode {
	case notifytest.FailTemporarily:
		w.WriteHeader(http.StatusServiceUnavailable)
	case notifytest.FailPermanently:
		w.WriteHeader(http.StatusGone)
	case notifytest.Hang:
		h.mu.Unlock()
		<-r.Context().Done()
		h.mu.Lock()
	case notifytest.Accept:
		h.store(strings.TrimPrefix(r.URL.Path, "/"), r.Header.Get("Webhook-Id"), body)
	}
}

func (h *hooks) store(to, mark string, body []byte) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		panic(err)
	}
	h.arrived = append(h.arrived, notifytest.Arrival{
		Mark: mark, To: []string{to}, Subject: p.Type, Content: string(p.Data),
	})
}

// Recipient implements notifytest.Receiver.
func (h *hooks) Recipient(i int) string { return fmt.Sprintf("receiver-%d", i) }

// SetMode implements notifytest.Receiver.
func (h *hooks) SetMode(m notifytest.Mode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mode = m
}

// Arrived implements notifytest.Receiver.
func (h *hooks) Arrived() []notifytest.Arrival {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]notifytest.Arrival(nil), h.arrived...)
}

func (h *hooks) endpoints(url string) webhook.StaticEndpoints {
	all := webhook.StaticEndpoints{}
	for i := range 10 {
		all[h.Recipient(i)] = endpoint(url + "/" + h.Recipient(i))
	}
	return all
}

// quoted returns text as JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestNewSender_Conformance(t *testing.T) {
	notifytest.Run(t, notifytest.Harness{
		Type: notifyx.TypeWebhook, Content: quoted,
		Open: func(tb testing.TB) (notifyx.Sender, notifytest.Receiver) {
			tb.Helper()
			h := &hooks{}
			s := serve(tb.(*testing.T), h.ServeHTTP)
			c := newClient(tb.(*testing.T))
			return webhook.NewSender(h.endpoints(s.URL), c), h
		},
	})
}

// stored is a receiver that reports queued jobs as arrived.
type stored struct {
	hooks
	*engine
}

// Arrived implements notifytest.Receiver.
func (s *stored) Arrived() []notifytest.Arrival {
	all := []notifytest.Arrival{}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) { // job IDs are increasing
		r := s.jobs[id]
		var args struct {
			ID, Endpoint string
			payload
		}
		if err := json.Unmarshal(r.Args, &args); err != nil {
			panic(err)
		}
		all = append(all, notifytest.Arrival{
			Mark: args.ID, To: []string{args.Endpoint},
			Subject: args.Type, Content: string(args.Data),
		})
	}
	return all
}

// inQueue is a sender that adds a queue to the context.
type inQueue struct {
	notifyx.Sender
	engine *engine
}

// Send implements notifyx.Sender.
func (s inQueue) Send(ctx context.Context, m *notifyx.Message) error {
	return s.Sender.Send(withQueue(ctx, s.engine), m)
}

func TestDispatcher_Sender_Conformance(t *testing.T) {
	notifytest.Run(t, notifytest.Harness{
		Type: notifyx.TypeWebhook, Content: quoted,
		Differences: map[string]string{
			"Failure/Permanent": "a queue fails temporarily only; " +
				"permanent failures occur at delivery",
		},
		Open: func(tb testing.TB) (notifyx.Sender, notifytest.Receiver) {
			tb.Helper()
			t := tb.(*testing.T)
			_, e := newEngine(t)
			r := &stored{engine: e}
			e.reject = func(ctx context.Context) error {
				r.hooks.mu.Lock()
				mode := r.mode
				r.hooks.mu.Unlock()
				switch mode {
				case notifytest.FailTemporarily, notifytest.FailPermanently:
					return errors.New("database down")
				case notifytest.Hang:
					<-ctx.Done()
					return ctx.Err()
				default:
					return nil
				}
			}
			return inQueue{
				dispatcher(t, r.endpoints("http://127.0.0.1:1"), newClient(t)).Sender(),
				e,
			}, r
		},
	})
}

func TestSender_Validation(t *testing.T) {
	d := dispatcher(t, webhook.StaticEndpoints{}, newClient(t))
	for name, change := range map[string]func(m *notifyx.Message){
		"no subject": func(m *notifyx.Message) { m.Subject = "" },
		"not JSON":   func(m *notifyx.Message) { m.Content = "Hello" },
		"HTML":       func(m *notifyx.Message) { m.HTML = "<p>" },
	} {
		m := &notifyx.Message{
			Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "a", Content: "1",
		}
		change(m)
		for _, s := range []notifyx.Sender{
			d.Sender(),
			webhook.NewSender(webhook.StaticEndpoints{}, newClient(t)),
		} {
			if err := s.Send(t.Context(), m); !errors.Is(err, notifyx.ErrMessage) {
				t.Errorf("%s: %v, want ErrMessage", name, err)
			}
		}
	}
}

func TestSender_PermanentError(t *testing.T) {
	down := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "77")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	gone := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
	})
	s := webhook.NewSender(webhook.StaticEndpoints{
		"down": endpoint(down.URL),
		"gone": endpoint(gone.URL),
	}, newClient(t))
	for _, c := range []struct {
		name string
		to   []string
		want bool
	}{
		{"gone", []string{"gone"}, true},
		{"gone and unknown", []string{"gone", "unknown"}, true},
		{"down", []string{"down"}, false},
		{"gone and down", []string{"gone", "down"}, false},
	} {
		err := s.Send(t.Context(),
			&notifyx.Message{Type: notifyx.TypeWebhook, To: c.to, Subject: "a", Content: "1"})
		if err == nil || errors.Is(err, notifyx.ErrPermanent) != c.want {
			t.Errorf("%s: %v, want permanent = %v", c.name, err, c.want)
		}
		var later notifyx.RetryAfterer
		if !c.want && (!errors.As(err, &later) || later.RetryAfter().Seconds() != 77) {
			t.Errorf("%s: %v has no RetryAfter", c.name, err)
		}
	}
}

func TestSender_Retry(t *testing.T) {
	got := make(chan received, 2)
	clock := time.Unix(1_700_000_000, 0)
	c := newClient(t, webhook.WithClock(func() time.Time {
		clock = clock.Add(time.Hour)
		return clock
	}))
	m := &notifyx.Message{
		ID: "order-17", Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "a", Content: "1",
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600)),
	}
	const want = `{"type":"a","timestamp":"2026-01-02T02:04:05.6Z","data":1}`
	to := shopOnly(serve(t, record(got)).URL)
	s := webhook.NewSender(to, c)
	for range 2 {
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if r := <-got; string(r.body) != want || r.header.Get("Webhook-Id") != m.ID {
			t.Errorf("%s: %s, want %s", r.header.Get("Webhook-Id"), r.body, want)
		}
	}
	d := dispatcher(t, to, c)
	ctx, e := newEngine(t)
	e.work(t, ctx, d.Handler())
	for range 2 { // simulates a retried job of notifyx
		if err := d.Sender().Send(ctx, m); err != nil {
			t.Fatal(err)
		}
		e.attempt(t)
		if r := <-got; string(r.body) != want || r.header.Get("Webhook-Id") != m.ID {
			t.Errorf("stored: %s: %s, want %s", r.header.Get("Webhook-Id"), r.body, want)
		}
	}
}

func TestSender_EventID(t *testing.T) {
	got := make(chan received, 1)
	s := serve(t, record(got))
	sender := webhook.NewSender(shopOnly(s.URL), newClient(t))
	m := &notifyx.Message{
		ID:   "order.17_paid-1",
		Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "a", Content: "1",
	}
	err := sender.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if id := (<-got).header.Get("Webhook-Id"); id != "order~17_paid-1" {
		t.Errorf("Webhook-Id = %q", id)
	}
}

func TestNewSender_Panic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	webhook.NewSender(nil, nil)
}
