package webhook_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestClient_Send_Validation(t *testing.T) {
	t.Run("rejects invalid arguments without a request", func(t *testing.T) {
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
			{
				"transfer encoding header",
				header("Transfer-Encoding", "chunked"), good, webhook.ErrEndpoint,
			},
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
				"data that cannot be encoded",
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
	})

	t.Run("limits the payload", func(t *testing.T) {
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		})
		c := newClient(t)
		send := func(n int) error {
			event := webhook.Event{Type: "a", Timestamp: time.Unix(0, 0), Data: ""}
			empty, err := json.Marshal(map[string]any{
				"type": "a", "timestamp": event.Timestamp.UTC(), "data": "",
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
	})
}

func TestNew(t *testing.T) {
	_, err := webhook.New(webhook.WithTimeout(0), webhook.WithMaxPayload(0), webhook.WithPorts(0),
		webhook.WithAllowedNetworks(netip.Prefix{}))
	if !errors.Is(err, webhook.ErrOption) || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %v, want four problems", err)
	}
}
