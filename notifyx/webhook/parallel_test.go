package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestTheLongestWaitOfSeveralReceiversIsTold(t *testing.T) {
	down := func(wait string) webhook.Endpoint {
		return endpoint(serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", wait)
			w.WriteHeader(http.StatusServiceUnavailable)
		}).URL)
	}
	s := webhook.NewSender(webhook.StaticEndpoints{"none": down(""), "short": down("3"), "long": down("300"), "middle": down("30")}, newClient(t))
	for _, c := range []struct {
		to   []string
		want time.Duration
	}{
		{[]string{"none"}, 0},
		{[]string{"none", "short"}, 3 * time.Second},
		{[]string{"none", "short", "long", "middle"}, 5 * time.Minute},
		{[]string{"long", "unknown", "none"}, 5 * time.Minute},
	} {
		err := s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeWebhook, To: c.to, Subject: "a", Content: "1"})
		var later notifyx.RetryAfterer
		if !errors.Is(err, webhook.ErrStatus) || (errors.As(err, &later) && later.RetryAfter() != c.want) || (later == nil && c.want > 0) {
			t.Errorf("%v: %v, want a wait of %s", c.to, err, c.want)
		}
		if got, ok := webhook.RetryAfter(err); got != c.want || ok != (c.want > 0) {
			t.Errorf("%v: RetryAfter = %s, want %s", c.to, got, c.want)
		}
	}
}

func TestSlowReceiversDoNotStarveAGoodOne(t *testing.T) {
	hang := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	got := make(chan received, 1)
	all := webhook.StaticEndpoints{"good": endpoint(serve(t, record(got)).URL)}
	to := []string{}
	for i := range 10 {
		id := fmt.Sprint("slow-", i)
		all[id], to = endpoint(hang), append(to, id)
	}
	const timeout = 2 * time.Second
	s := webhook.NewSender(all, newClient(t, webhook.WithTimeout(timeout)))
	begin := time.Now()
	err := s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeWebhook, To: append(to, "good"), Subject: "a", Content: "1"})
	if took := time.Since(begin); !errors.Is(err, webhook.ErrTimeout) || took > 5*timeout {
		t.Errorf("%v after %s, want ErrTimeout after %s", err, took, timeout)
	}
	select {
	case <-got:
	default:
		t.Error("the good receiver got nothing")
	}
}

func TestManyReceiversAreSentToWithinOneTimeoutAndABoundedNumberAtATime(t *testing.T) {
	var now, most, opened atomic.Int32
	hang := listen(t, func(_ context.Context, conn net.Conn) {
		opened.Add(1)
		for n, m := now.Add(1), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		_, _ = io.Copy(io.Discard, conn)
		now.Add(-1)
	})
	all, to := webhook.StaticEndpoints{}, []string{}
	for i := range 200 {
		id := fmt.Sprint("slow-", i)
		all[id], to = endpoint(hang), append(to, id)
	}
	const timeout = 3 * time.Second
	s := webhook.NewSender(all, newClient(t, webhook.WithTimeout(timeout)))
	begin := time.Now()
	err := s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeWebhook, To: to, Subject: "a", Content: "1"})
	if took := time.Since(begin); !errors.Is(err, webhook.ErrTimeout) || errors.Is(err, notifyx.ErrPermanent) || took > 3*timeout {
		t.Errorf("%.200v after %s, want ErrTimeout after %s", err, took, timeout)
	}
	if n := most.Load(); n < 2 || n > 64 {
		t.Errorf("%d at a time, want 2 to 64", n)
	}
	if n := opened.Load(); n >= 200 {
		t.Errorf("%d connections", n)
	}
}

func TestAReceiverThatHangsOpensItsCircuitForASenderToo(t *testing.T) {
	hang := listen(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	s := webhook.NewSender(only(hang), newClient(t, webhook.WithTimeout(100*time.Millisecond), webhook.WithBreaker(webhook.Breaker{Failures: 2})))
	var err error
	for range 3 {
		err = s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "a", Content: "1"})
	}
	if !errors.Is(err, webhook.ErrCircuitOpen) {
		t.Errorf("error %v, want ErrCircuitOpen", err)
	}
}

func TestEndpointsThatPanicAreAnErrorOfTheirReceiver(t *testing.T) {
	out := capture(t)
	got := make(chan received, 1)
	good := endpoint(serve(t, record(got)).URL)
	s := webhook.NewSender(webhook.EndpointsFunc(func(_ context.Context, id string) (webhook.Endpoint, error) {
		if id == "bad" {
			panic("row-token")
		}
		return good, nil
	}), newClient(t))
	err := s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeWebhook, To: []string{"bad", "shop"}, Subject: "a", Content: "1"})
	if err == nil || len(got) != 1 {
		t.Errorf("%v, %d arrived", err, len(got))
	}
	if text := fmt.Sprint(err, out); strings.Contains(text, "row-token") || !strings.Contains(text, "parallel_test.go") {
		t.Errorf("the log and the error show the value, or no stack: %s", text)
	}
}

func TestAMessageOfAnotherTypeIsRefused(t *testing.T) {
	c := newClient(t)
	for _, s := range []notifyx.Sender{webhook.NewSender(only("http://127.0.0.1:1/"), c), dispatcher(t, only("http://127.0.0.1:1/"), c).Sender()} {
		err := s.Send(t.Context(), &notifyx.Message{Type: notifyx.TypeEmail, To: []string{"shop"}, Subject: "a", Content: "1"})
		if !errors.Is(err, notifyx.ErrMessage) || !strings.Contains(err.Error(), "WEBHOOK") {
			t.Errorf("error %v, want ErrMessage", err)
		}
	}
}
