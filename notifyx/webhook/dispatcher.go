package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// JobKind is the kind of the jobs of a Dispatcher.
const JobKind = "plinth.webhook"

// maxAttempts is the default number of attempts per event.
const maxAttempts = 10

// schedule returns the default delays after failed attempts. The tenth attempt is about
// 76 hours after the first.
func schedule() backoff.Policy {
	return backoff.Jitter(backoff.Schedule(5*time.Second, 5*time.Minute, 30*time.Minute,
		2*time.Hour, 5*time.Hour, 10*time.Hour, 14*time.Hour, 20*time.Hour, 24*time.Hour), 0.1)
}

// DispatcherOption configures a Dispatcher.
type DispatcherOption func(*Dispatcher)

// WithSchedule sets the delays between attempts and the number of attempts. The default
// is ten attempts with delays of 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h,
// each with 10 % jitter.
func WithSchedule(p backoff.Policy, attempts int) DispatcherOption {
	return func(d *Dispatcher) { d.schedule, d.attempts = p, attempts }
}

// WithOnGone sets a function that is called when a receiver responds with 410, so that
// the application can disable the receiver. It may be called several times for a
// receiver. If it returns an error, the event is retried on schedule.
func WithOnGone(fn func(ctx context.Context, endpointID string) error) DispatcherOption {
	return func(d *Dispatcher) { d.onGone = fn }
}

// Dispatcher delivers events as durable jobs. It is safe for concurrent use.
type Dispatcher struct {
	find     finder
	client   *Client
	schedule backoff.Policy
	attempts int
	onGone   func(ctx context.Context, endpointID string) error
	kind     *job.Kind[delivery]
}

// delivery is the argument of a job. It contains no URL and no secret.
type delivery struct {
	ID        string          `json:"id"`
	Endpoint  string          `json:"endpoint"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

func (d delivery) event() Event {
	return Event{ID: d.ID, Type: d.Type, Timestamp: d.Timestamp, Data: d.Data}
}

// lookupTimeout is added to the timeout of the client, for Endpoints and the function of
// WithOnGone.
const lookupTimeout = 15 * time.Second

// NewDispatcher returns a dispatcher, or an ErrOption if an argument is invalid. Nil
// options are skipped.
func NewDispatcher(
	endpoints Endpoints, client *Client, opts ...DispatcherOption,
) (d *Dispatcher, err error) {
	if endpoints == nil || client == nil {
		return nil, fmt.Errorf("%w: a dispatcher needs endpoints and a client", ErrOption)
	}
	d = &Dispatcher{
		find: endpoints.Endpoint, client: client, schedule: schedule(), attempts: maxAttempts,
	}
	for _, o := range opts {
		if o != nil {
			o(d)
		}
	}
	if d.schedule == nil || d.attempts < 1 {
		return nil, fmt.Errorf("%w: a dispatcher needs a schedule and at least one attempt",
			ErrOption)
	}
	d.kind = job.NewKind[delivery](JobKind, job.WithMaxAttempts(d.attempts),
		job.WithBackoff(d.schedule), job.WithTimeout(client.config.timeout+lookupTimeout))
	return d, nil
}

// Enqueue stores an event for one receiver and returns the event ID, which all attempts
// use. Inside an xdb transaction the event is stored in that transaction. Enqueue encodes
// Data. It returns ErrEvent or ErrPayloadTooLarge for an invalid event; errors of the
// receiver occur at delivery. The options are those of the durable job, such as a delay.
func (d *Dispatcher) Enqueue(
	ctx context.Context, endpointID string, e Event, opts ...job.EnqueueOption,
) (id string, err error) {
	return d.EnqueueAll(ctx, []string{endpointID}, e, opts...)
}

// EnqueueAll stores an event for all receivers, or for no receiver if it fails. The
// deliveries have the same event ID and are independent of each other.
func (d *Dispatcher) EnqueueAll(
	ctx context.Context, endpointIDs []string, e Event, opts ...job.EnqueueOption,
) (id string, err error) {
	if e.ID == "" {
		e.ID = signature.NewID()
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = d.client.config.now()
	}
	encoded, err := json.Marshal(e.Data)
	if err != nil {
		return "", fmt.Errorf("%w: the data of type %T cannot be encoded", ErrEvent, e.Data)
	}
	e.Data = json.RawMessage(encoded)
	body, err := e.encode(e.Timestamp)
	if err == nil {
		err = d.client.checkPayload(body)
	}
	if err != nil {
		return "", err
	}
	all := make([]delivery, 0, len(endpointIDs))
	for _, to := range endpointIDs {
		if to == "" {
			return "", fmt.Errorf("%w: the ID is empty", ErrUnknownEndpoint)
		}
		all = append(all, delivery{
			ID: e.ID, Endpoint: to, Type: e.Type, Timestamp: e.Timestamp.UTC(), Data: encoded,
		})
	}
	if _, err := d.kind.EnqueueMany(ctx, all, opts...); err != nil {
		return "", fmt.Errorf("webhook: store the event: %w", err)
	}
	return e.ID, nil
}

// Handler returns the handler of the stored deliveries, for job.WithHandlers.
//
// A delivery succeeds if the receiver responds with 2xx. It is dead-lettered immediately
// if the receiver is unknown, its URL is not allowed, its address is blocked or it
// responds with 410. In the last case the handler calls the function of WithOnGone first.
//
// Other failures are retried on schedule, or later if Retry-After or an open circuit
// requires it. Attempts rejected by an open circuit count, so that events of a receiver
// that stays unavailable are dead-lettered too.
func (d *Dispatcher) Handler() job.Handler { return d.kind.Handle(d.deliver) }

func (d *Dispatcher) deliver(ctx context.Context, stored delivery) error {
	to, err := find(ctx, d.find, stored.Endpoint)
	if err == nil {
		_, err = d.client.Send(ctx, to, stored.event())
	}
	return d.jobError(ctx, stored, err)
}

// jobError converts the result of an attempt to the error of its job.
func (d *Dispatcher) jobError(ctx context.Context, stored delivery, err error) error {
	wait, later := RetryAfter(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrGone):
		return d.handleGone(ctx, stored, err)
	case isPermanent(err):
		return job.Dead(err)
	case later:
		info, _ := job.InfoFrom(ctx)
		if errors.Is(err, ErrCircuitOpen) { // all events of the receiver have the same delay
			wait += rand.N(wait/5 + 1)
		}
		return job.RetryAfter(err, max(wait, d.schedule(info.Attempt)))
	default:
		return err
	}
}

// handleGone calls the function of WithOnGone and returns the error of the job.
func (d *Dispatcher) handleGone(ctx context.Context, stored delivery, err error) error {
	d.client.config.log.Warn(ctx, "webhook receiver gone",
		slog.String("endpoint", stored.Endpoint), slog.String("webhook_id", stored.ID))
	if d.onGone == nil {
		return job.Dead(err)
	}
	if disableErr := d.onGone(ctx, stored.Endpoint); disableErr != nil {
		return fmt.Errorf("%w; WithOnGone: %w", err, disableErr)
	}
	return job.Dead(err)
}
