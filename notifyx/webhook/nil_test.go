package webhook_test

import (
	"errors"
	"testing"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestAnOptionThatIsNilIsIgnored(t *testing.T) {
	c, err := webhook.New(nil, webhook.WithHTTP(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := dispatcher(t, webhook.StaticEndpoints{}, c, nil)
	ctx, e := newEngine(t)
	if _, err := d.Enqueue(ctx, "shop", "a", 1, nil, webhook.WithJob(nil)); err != nil || len(e.jobs) != 1 {
		t.Errorf("Enqueue: %v, %d jobs", err, len(e.jobs))
	}
	v, err := receiver.NewVerifier([]signature.Secret{signature.NewSecret()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	receiver.Middleware(v, nil)
}

func TestAClientThatNewDidNotMakeIsAnError(t *testing.T) {
	for name, c := range map[string]*webhook.Client{"zero": {}, "nil": nil} {
		if r, err := c.Send(t.Context(), endpoint("https://example.com/"), webhook.Event{ID: "msg_1", Type: "a"}); !errors.Is(err, webhook.ErrOption) || r.ID != "msg_1" {
			t.Errorf("%s: Send = %+v, %v, want ErrOption", name, r, err)
		}
		if err := c.CheckURL("https://example.com/"); !errors.Is(err, webhook.ErrOption) {
			t.Errorf("%s: CheckURL: %v, want ErrOption", name, err)
		}
		if _, err := webhook.NewDispatcher(webhook.StaticEndpoints{}, c); !errors.Is(err, webhook.ErrOption) {
			t.Errorf("%s: NewDispatcher: %v, want ErrOption", name, err)
		}
		c.Close()
	}
}

func TestEndpointsThatAreNoneAreRefused(t *testing.T) {
	c := newClient(t)
	for name, none := range map[string]webhook.Endpoints{"nil": nil, "a nil function": webhook.EndpointsFunc(nil)} {
		if _, err := webhook.NewDispatcher(none, c); !errors.Is(err, webhook.ErrOption) {
			t.Errorf("%s: NewDispatcher: %v, want ErrOption", name, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: NewSender did not panic", name)
				}
			}()
			webhook.NewSender(none, c)
		}()
	}
}

func TestADispatcherThatMakesNoSenseIsAnError(t *testing.T) {
	c := newClient(t)
	for name, f := range map[string]func() (*webhook.Dispatcher, error){
		"no endpoints": func() (*webhook.Dispatcher, error) { return webhook.NewDispatcher(nil, c) },
		"no client":    func() (*webhook.Dispatcher, error) { return webhook.NewDispatcher(webhook.StaticEndpoints{}, nil) },
		"a wrong kind": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(webhook.StaticEndpoints{}, c, webhook.WithJobKind("A B"))
		},
		"no attempts": func() (*webhook.Dispatcher, error) {
			return webhook.NewDispatcher(webhook.StaticEndpoints{}, c, webhook.WithSchedule(backoff.Default(), 0))
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
