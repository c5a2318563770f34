package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// sendersAtOnce is how many receivers of one message are sent to at the same time.
const sendersAtOnce = 32

// lateError ends the attempts for which the other receivers of the message left no time. It is an ErrTimeout.
type lateError struct{}

// Error implements error.
func (lateError) Error() string { return "the other receivers left no time" }

// Is finds ErrTimeout.
func (lateError) Is(target error) bool { return target == ErrTimeout }

// NewSender returns a sender of messages of the type WEBHOOK that sends at once. To has the ids of endpoints, Subject the type of
// the event, Content its data as JSON. The event's timestamp is the message's CreatedAt.
//
// Up to 32 receivers are sent to at the same time, in a random order. Whoever is not among the first 32 must be done within
// one timeout of the client from the beginning; the others have it for themselves.
//
// Where one of several receivers fails, the error is permanent only if all failures are, and says the longest wait that any
// asks for. A repeat goes to all of them again, under the same id. A Dispatcher's Sender tries each by itself.
//
// It panics without endpoints or without a client that New has made.
func NewSender(endpoints Endpoints, client *Client) notifyx.Sender {
	s := &sender{endpoints: hidden(endpoints), client: client}
	if s.endpoints == nil || client.check() != nil {
		panic("webhook: NewSender needs endpoints and a client")
	}
	return s
}

// Sender returns a sender of messages of the type WEBHOOK that stores them as Enqueue does, for each receiver by itself. To
// has the ids of endpoints, Subject the type of the event, Content its data as JSON. The event's timestamp is the message's
// CreatedAt. A message counts as sent once it is stored.
func (d *Dispatcher) Sender() notifyx.Sender { return storing{d} }

type sender struct {
	endpoints EndpointsFunc
	client    *Client
}

// Send implements notifyx.Sender.
func (s *sender) Send(ctx context.Context, m *notifyx.Message) error {
	event, err := fromMessage(m)
	if err != nil {
		return failed(err)
	}
	ctx = xctx.Unpooled(ctx)
	all, cancel := context.WithTimeoutCause(ctx, s.client.config.timeout, lateError{})
	defer cancel()
	var (
		results = make([]error, len(m.To))
		order   = rand.Perm(len(m.To))
		next    atomic.Int64
		workers sync.WaitGroup
	)
	for range min(sendersAtOnce, len(m.To)) {
		workers.Go(func() {
			for n := next.Add(1); int(n) <= len(order); n = next.Add(1) {
				i, attempt := order[n-1], all
				if n <= sendersAtOnce {
					attempt = ctx // the client's timeout is all theirs, so that their circuits learn of it
				}
				results[i] = s.guarded(ctx, func() error { return s.send(all, attempt, m.To[i], event) })
			}
		})
	}
	workers.Wait()
	return failed(join(results))
}

// guarded turns a panic of the application's Endpoints into an error. Its value may hold anything.
func (s *sender) guarded(ctx context.Context, send func() error) error {
	err := xhook.Guard(send)
	var panicked *xhook.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	s.client.config.log.Error(ctx, "sending a webhook panicked", slog.String("panic", fmt.Sprintf("%T", panicked.Value)),
		slog.String("stack", string(panicked.Stack)))
	return errors.New("webhook: sending panicked")
}

// send makes the attempt of one receiver, which is looked up within the time of all.
func (s *sender) send(all, attempt context.Context, id string, event Event) error {
	if all.Err() != nil {
		return fmt.Errorf("%w: %w", errGaveUp, context.Cause(all))
	}
	to, err := find(all, s.endpoints, id)
	if err == nil {
		_, err = s.client.Send(attempt, to, event)
	}
	return err
}

type storing struct{ d *Dispatcher }

// Send implements notifyx.Sender.
func (s storing) Send(ctx context.Context, m *notifyx.Message) error {
	event, err := fromMessage(m)
	if err != nil {
		return failed(err)
	}
	_, err = s.d.EnqueueAll(ctx, m.To, event.Type, event.Data, WithID(event.ID), WithTimestamp(event.Timestamp))
	return failed(err)
}

// failed is the end of Send: what cannot be mended is marked.
func failed(err error) error {
	if err != nil && isPermanent(err) {
		err = notifyx.Permanent(err)
	}
	return err
}

// fromMessage returns the event. Its id is the message's: full stops, which the id of an event has not, become tildes, which
// the id of a message has not.
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
	return Event{ID: id, Type: m.Subject, Timestamp: m.CreatedAt, Data: json.RawMessage(m.Content)}, nil
}

// join is the error of the receivers of one message. Of permanent ones among others only the number is kept, so that they do
// not make all of them permanent.
func join(results []error) error {
	var (
		temporary, permanent []error
		wait                 time.Duration
	)
	for _, err := range results {
		switch {
		case err == nil:
		case isPermanent(err):
			permanent = append(permanent, err)
		default:
			temporary = append(temporary, err)
			later, _ := RetryAfter(err)
			wait = max(wait, later)
		}
	}
	if len(temporary) == 0 {
		return errors.Join(permanent...)
	}
	err := errors.Join(temporary...)
	if len(permanent) > 0 {
		err = fmt.Errorf("%w (and %d receivers refuse for good)", err, len(permanent))
	}
	return &laterError{error: err, wait: wait}
}

// laterError says the longest wait of several errors; errors.As would find the first.
type laterError struct {
	error

	wait time.Duration
}

// Unwrap returns the errors.
func (e *laterError) Unwrap() error { return e.error }

// RetryAfter implements notifyx.RetryAfterer.
func (e *laterError) RetryAfter() time.Duration { return e.wait }
