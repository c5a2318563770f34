package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	xNotify "github.com/plinthgo/plinth/notifyx"
)

// NewSender returns a sender of messages of the type WEBHOOK that sends at once, to each receiver one after the other. To has
// the ids of endpoints, Subject the type of the event, Content its data as JSON.
//
// Where one of several receivers fails, the error is permanent only if all failures are. A repeat goes to all of them again,
// under the same id. A Dispatcher's Sender tries each by itself.
//
// It panics without endpoints or without a client.
func NewSender(endpoints Endpoints, client *Client) xNotify.Sender {
	if endpoints == nil || client == nil {
		panic("xwebhook: NewSender needs endpoints and a client")
	}
	return &sender{endpoints: endpoints, client: client}
}

// Sender returns a sender of messages of the type WEBHOOK that stores them as Enqueue does, for each receiver by itself. To
// has the ids of endpoints, Subject the type of the event, Content its data as JSON. A message counts as sent once it is
// stored.
func (d *Dispatcher) Sender() xNotify.Sender { return storing{d} }

type sender struct {
	endpoints Endpoints
	client    *Client
}

// Send implements xNotify.Sender.
func (s *sender) Send(ctx context.Context, m *xNotify.Message) (xNotify.Result, error) {
	event, err := fromMessage(m)
	if err != nil {
		return failed(m, err)
	}
	var all failures
	for _, id := range m.To {
		to, err := find(ctx, s.endpoints, id)
		if err == nil {
			_, err = s.client.Send(ctx, to, event)
		}
		all.add(err)
	}
	return failed(m, all.join())
}

type storing struct{ d *Dispatcher }

// Send implements xNotify.Sender.
func (s storing) Send(ctx context.Context, m *xNotify.Message) (xNotify.Result, error) {
	event, err := fromMessage(m)
	if err != nil {
		return failed(m, err)
	}
	_, err = s.d.EnqueueAll(ctx, m.To, event.Type, event.Data, WithID(event.ID))
	return failed(m, err)
}

// failed is the end of Send: what cannot be mended is marked.
func failed(m *xNotify.Message, err error) (xNotify.Result, error) {
	if err != nil && isPermanent(err) {
		err = xNotify.Permanent(err)
	}
	return xNotify.NewResult(m, err), err
}

// fromMessage returns the event. Its id is the message's: full stops, which the id of an event has not, become tildes, which
// the id of a message has not.
func fromMessage(m *xNotify.Message) (Event, error) {
	if err := m.Validate(); err != nil {
		return Event{}, err
	}
	var problems []error
	if m.Subject == "" {
		problems = append(problems, errors.New("subject: is missing; it is the type of the event"))
	}
	if !json.Valid([]byte(m.Content)) {
		problems = append(problems, errors.New("content: is not JSON"))
	}
	if m.HTML != "" {
		problems = append(problems, errors.New("html: a webhook has none"))
	}
	if err := xNotify.InvalidMessage(problems...); err != nil {
		return Event{}, err
	}
	id := strings.ReplaceAll(m.ID, ".", "~")
	if id == "" {
		id = NewID()
	}
	return Event{ID: id, Type: m.Subject, Data: json.RawMessage(m.Content)}, nil
}

// failures are those of the receivers of one message. Of permanent ones among others only the number is kept, so that they do
// not make all of them permanent.
type failures struct {
	temporary, permanent []error
}

func (f *failures) add(err error) {
	switch {
	case err == nil:
	case isPermanent(err):
		f.permanent = append(f.permanent, err)
	default:
		f.temporary = append(f.temporary, err)
	}
}

func (f *failures) join() error {
	if len(f.temporary) == 0 {
		return errors.Join(f.permanent...)
	}
	err := errors.Join(f.temporary...)
	if len(f.permanent) > 0 {
		err = fmt.Errorf("%w (and %d receivers refuse for good)", err, len(f.permanent))
	}
	return err
}
