package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// NewSender returns a sender of messages of the type WEBHOOK that sends at once, to one
// receiver after the other. To has the ids of endpoints, Subject the type of the event,
// Content its data as JSON. The event's timestamp is the message's CreatedAt.
//
// Where one of several receivers fails, the error is permanent only if all failures are,
// and says the longest wait that any asks for. A repeat goes to all of them again, under
// the same id. A Dispatcher's Sender tries each by itself.
//
// It panics without endpoints or without a client.
func NewSender(endpoints Endpoints, client *Client) notifyx.Sender {
	if endpoints == nil || client == nil {
		panic("webhook: NewSender needs endpoints and a client")
	}
	return &sender{find: endpoints.Endpoint, client: client}
}

type sender struct {
	find   finder
	client *Client
}

// Send implements notifyx.Sender.
func (s *sender) Send(ctx context.Context, m *notifyx.Message) error {
	event, err := fromMessage(m)
	if err != nil {
		return err
	}
	var temporary, final []error
	for _, id := range m.To {
		to, err := find(ctx, s.find, id)
		if err == nil {
			_, err = s.client.Send(ctx, to, event)
		}
		switch {
		case err == nil:
		case isPermanent(err):
			final = append(final, err)
		default:
			temporary = append(temporary, err)
		}
	}
	slices.SortStableFunc(temporary, func(a, b error) int { // errors.As finds the first
		waitA, _ := RetryAfter(a)
		waitB, _ := RetryAfter(b)
		return cmp.Compare(waitB, waitA)
	})
	if err := errors.Join(temporary...); err != nil {
		return err
	}
	return notifyx.Permanent(errors.Join(final...))
}

// Sender returns a sender of messages of the type WEBHOOK that stores them as Enqueue
// does, for each receiver by itself. To has the ids of endpoints, Subject the type of the
// event, Content its data as JSON. The event's timestamp is the message's CreatedAt. A
// message counts as sent once it is stored.
func (d *Dispatcher) Sender() notifyx.Sender { return storing{d} }

type storing struct{ d *Dispatcher }

// Send implements notifyx.Sender.
func (s storing) Send(ctx context.Context, m *notifyx.Message) error {
	event, err := fromMessage(m)
	if err == nil {
		_, err = s.d.EnqueueAll(ctx, m.To, event)
	}
	if isPermanent(err) {
		return notifyx.Permanent(err)
	}
	return err
}

// fromMessage returns the event. Its id is the message's: full stops, which the id of an
// event has not, become tildes, which the id of a message has not.
func fromMessage(m *notifyx.Message) (Event, error) {
	if err := m.Validate(); err != nil {
		return Event{}, err
	}
	var problems []error
	if m.Type != notifyx.TypeWebhook {
		problems = append(problems, errors.New("type: is not WEBHOOK"))
	}
	if m.Subject == "" {
		problems = append(problems, errors.New("subject: is missing; it is the type of the event"))
	}
	if !json.Valid([]byte(m.Content)) {
		problems = append(problems, errors.New("content: is not JSON"))
	}
	if m.HTML != "" {
		problems = append(problems, errors.New("html: a webhook has none"))
	}
	if err := notifyx.InvalidMessage(problems...); err != nil {
		return Event{}, err
	}
	id := strings.ReplaceAll(m.ID, ".", "~")
	if id == "" {
		id = signature.NewID()
	}
	return Event{ID: id, Type: m.Subject, Timestamp: m.CreatedAt, Data: json.RawMessage(m.Content)},
		nil
}
