package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestSender_SeveralReceivers(t *testing.T) {
	t.Run("returns the longest delay", func(t *testing.T) {
		down := func(wait string) webhook.Endpoint {
			return endpoint(serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", wait)
				w.WriteHeader(http.StatusServiceUnavailable)
			}).URL)
		}
		s := webhook.NewSender(webhook.StaticEndpoints{
			"none": down(""), "short": down("3"), "long": down("300"), "middle": down("30"),
		}, newClient(t))
		for _, c := range []struct {
			to   []string
			want time.Duration
		}{
			{[]string{"none"}, 0},
			{[]string{"none", "short"}, 3 * time.Second},
			{[]string{"none", "short", "long", "middle"}, 5 * time.Minute},
			{[]string{"long", "unknown", "none"}, 5 * time.Minute},
		} {
			err := s.Send(t.Context(),
				&notifyx.Message{Type: notifyx.TypeWebhook, To: c.to, Subject: "a", Content: "1"})
			var later notifyx.RetryAfterer
			if !errors.Is(err, webhook.ErrStatus) || (errors.As(err, &later) &&
				later.RetryAfter() != c.want) || (later == nil && c.want > 0) {
				t.Errorf("%v: %v, want a wait of %s", c.to, err, c.want)
			}
			if got, ok := webhook.RetryAfter(err); got != c.want || ok != (c.want > 0) {
				t.Errorf("%v: RetryAfter = %s, want %s", c.to, got, c.want)
			}
		}
	})

	t.Run("sends to all receivers despite failures", func(t *testing.T) {
		got := make(chan received, 1)
		down := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		})
		all := webhook.StaticEndpoints{
			"down": endpoint(down.URL),
			"good": endpoint(serve(t, record(got)).URL),
		}
		s := webhook.NewSender(all, newClient(t))
		err := s.Send(t.Context(), &notifyx.Message{
			Type: notifyx.TypeWebhook,
			To:   []string{"down", "unknown", "good"}, Subject: "a", Content: "1",
		})
		if !errors.Is(err, webhook.ErrStatus) || errors.Is(err, notifyx.ErrPermanent) ||
			len(got) != 1 {
			t.Errorf("%v, %d arrived", err, len(got))
		}
	})
}

func TestSender_OpenCircuit(t *testing.T) {
	hang := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	s := webhook.NewSender(shopOnly(hang),
		newClient(t, webhook.WithTimeout(100*time.Millisecond), webhook.WithFailures(2)))
	var err error
	for range 3 {
		err = s.Send(t.Context(), &notifyx.Message{
			Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "a", Content: "1",
		})
	}
	if !errors.Is(err, webhook.ErrCircuitOpen) {
		t.Errorf("error %v, want ErrCircuitOpen", err)
	}
}

func TestSender_MessageType(t *testing.T) {
	c := newClient(t)
	for _, s := range []notifyx.Sender{
		webhook.NewSender(shopOnly("http://127.0.0.1:1/"), c),
		dispatcher(t, shopOnly("http://127.0.0.1:1/"), c).Sender(),
	} {
		err := s.Send(t.Context(), &notifyx.Message{
			Type: notifyx.TypeEmail, To: []string{"shop"}, Subject: "a", Content: "1",
		})
		if !errors.Is(err, notifyx.ErrMessage) || !strings.Contains(err.Error(), "WEBHOOK") {
			t.Errorf("error %v, want ErrMessage", err)
		}
	}
}

func TestNewSender_NilArguments(t *testing.T) {
	for name, build := range map[string]func(){
		"no endpoints": func() { webhook.NewSender(nil, newClient(t)) },
		"no client":    func() { webhook.NewSender(shopOnly("http://127.0.0.1:1/"), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: NewSender did not panic", name)
				}
			}()
			build()
		}()
	}
}
