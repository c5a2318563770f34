package webhook_test

import (
	"errors"
	"testing"

	xBackoff "github.com/plinthgo/plinth/asyncx/backoff"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

func TestAnOptionThatIsNilIsIgnored(t *testing.T) {
	c, err := xWebhook.New(nil, xWebhook.WithHTTP(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := dispatcher(t, xWebhook.StaticEndpoints{}, c, nil)
	ctx, e := newEngine(t)
	if _, err := d.Enqueue(ctx, "shop", "a", 1, nil, xWebhook.WithJob(nil)); err != nil || len(e.jobs) != 1 {
		t.Errorf("Enqueue: %v, %d jobs", err, len(e.jobs))
	}
	v, err := xWebhook.NewVerifier([]xWebhook.Secret{xWebhook.NewSecret()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	xWebhook.Middleware(v, nil)
}

func TestAClientThatNewDidNotMakeIsAnError(t *testing.T) {
	for name, c := range map[string]*xWebhook.Client{"zero": {}, "nil": nil} {
		if r, err := c.Send(t.Context(), endpoint("https://example.com/"), xWebhook.Event{ID: "msg_1", Type: "a"}); !errors.Is(err, xWebhook.ErrOption) || r.ID != "msg_1" {
			t.Errorf("%s: Send = %+v, %v, want ErrOption", name, r, err)
		}
		if err := c.CheckURL("https://example.com/"); !errors.Is(err, xWebhook.ErrOption) {
			t.Errorf("%s: CheckURL: %v, want ErrOption", name, err)
		}
		if _, err := xWebhook.NewDispatcher(xWebhook.StaticEndpoints{}, c); !errors.Is(err, xWebhook.ErrOption) {
			t.Errorf("%s: NewDispatcher: %v, want ErrOption", name, err)
		}
		c.Close()
	}
}

func TestEndpointsThatAreNoneAreRefused(t *testing.T) {
	c := newClient(t)
	for name, none := range map[string]xWebhook.Endpoints{"nil": nil, "a nil function": xWebhook.EndpointsFunc(nil)} {
		if _, err := xWebhook.NewDispatcher(none, c); !errors.Is(err, xWebhook.ErrOption) {
			t.Errorf("%s: NewDispatcher: %v, want ErrOption", name, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: NewSender did not panic", name)
				}
			}()
			xWebhook.NewSender(none, c)
		}()
	}
}

func TestADispatcherThatMakesNoSenseIsAnError(t *testing.T) {
	c := newClient(t)
	for name, f := range map[string]func() (*xWebhook.Dispatcher, error){
		"no endpoints": func() (*xWebhook.Dispatcher, error) { return xWebhook.NewDispatcher(nil, c) },
		"no client":    func() (*xWebhook.Dispatcher, error) { return xWebhook.NewDispatcher(xWebhook.StaticEndpoints{}, nil) },
		"a wrong kind": func() (*xWebhook.Dispatcher, error) {
			return xWebhook.NewDispatcher(xWebhook.StaticEndpoints{}, c, xWebhook.WithJobKind("A B"))
		},
		"no attempts": func() (*xWebhook.Dispatcher, error) {
			return xWebhook.NewDispatcher(xWebhook.StaticEndpoints{}, c, xWebhook.WithSchedule(xBackoff.Default(), 0))
		},
		"no schedule": func() (*xWebhook.Dispatcher, error) {
			return xWebhook.NewDispatcher(xWebhook.StaticEndpoints{}, c, xWebhook.WithSchedule(nil, 1))
		},
	} {
		if _, err := f(); !errors.Is(err, xWebhook.ErrOption) {
			t.Errorf("%s: %v, want ErrOption", name, err)
		}
	}
}
