package webhook_test

import (
	"errors"
	"testing"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestOptions_Nil(t *testing.T) {
	c, err := webhook.New(nil, webhook.WithHTTP(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := dispatcher(t, webhook.StaticEndpoints{}, c, nil)
	ctx, e := newEngine(t)
	if _, err := d.Enqueue(ctx, "shop", webhook.Event{Type: "a", Data: 1}, nil); err != nil ||
		len(e.jobs) != 1 {
		t.Errorf("Enqueue: %v, %d jobs", err, len(e.jobs))
	}
	v, err := receiver.NewVerifier([]signature.Secret{signature.NewSecret()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	receiver.Middleware(v, nil)
}

func TestNewDispatcher(t *testing.T) {
	c := newClient(t)
	for name, f := range map[string]func() (*webhook.Dispatcher, error){
		"no endpoints": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(nil, c)
		},
		"no client": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(webhook.StaticEndpoints{}, nil)
		},
		"no attempts": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(webhook.StaticEndpoints{}, c,
				webhook.WithSchedule(backoff.Default(), 0))
		},
		"no schedule": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(webhook.StaticEndpoints{}, c, webhook.WithSchedule(nil, 1))
		},
	} {
		if _, err := f(); !errors.Is(err, webhook.ErrOption) {
			t.Errorf("%s: %v, want ErrOption", name, err)
		}
	}
}
