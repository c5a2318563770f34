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

// NewSender returns a notifyx.Sender for the type WEBHOOK that sends immediately, to one
// receiver after the other. To contains endpoint IDs, Subject the event type and Content
// the data as JSON. The event timestamp is CreatedAt of the message.
//
// If some receivers fail, the error is permanent only if all failures are. RetryAfter is
// the longest delay of the failures. A retry sends to all receivers again, with the same
// ID; Dispatcher.Sender retries each receiver separately.
//
// NewSender panics if an argument is nil.
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

// Sender returns a notifyx.Sender for the type WEBHOOK that stores messages like Enqueue,
// as one delivery per receiver. To contains endpoint IDs, Subject the event type and
// Content the data as JSON. The event timestamp is CreatedAt of the message. A message
// counts as sent when it is stored.
func (d *Dispatcher) Sender() notifyx.Sender { return storingSender{d} }

type storingSender struct{ d *Dispatcher }

// Send implements notifyx.Sender.
func (s storingSender) Send(ctx context.Context, m *notifyx.Message) error {
	event, err := fromMessage(m)
	if err == nil {
		_, err = s.d.EnqueueAll(ctx, m.To, event)
	}
	if isPermanent(err) {
		return notifyx.Permanent(err)
	}
	return err
}

// fromMessage converts a message to an event. Event IDs cannot contain full stops, so
// those of the message ID become tildes, which message IDs cannot contain.
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
		problems = append(problems, errors.New("html: is not supported"))
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
