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

// JobKind is the name of the jobs of a Dispatcher.
const JobKind = "plinth.webhook"

// maxAttempts is how often an event is sent by the schedule.
const maxAttempts = 10

// schedule is how long a Dispatcher waits after each attempt that failed. The tenth
// attempt is about 76 hours after the first.
func schedule() backoff.Policy {
	return backoff.Jitter(backoff.Schedule(5*time.Second, 5*time.Minute, 30*time.Minute,
		2*time.Hour, 5*time.Hour,
		10*time.Hour, 14*time.Hour, 20*time.Hour, 24*time.Hour), 0.1)
}

// DispatcherOption changes a Dispatcher.
type DispatcherOption func(*Dispatcher)

// WithSchedule replaces the schedule, and how often an event is sent. By default there
// are ten attempts, with 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h in
// between, each spread by a tenth.
func WithSchedule(p backoff.Policy, attempts int) DispatcherOption {
	return func(d *Dispatcher) { d.schedule, d.attempts = p, attempts }
}

// WithOnGone gives what is told of a receiver that has answered 410, so that the
// application disables it. It may be told several times. While it returns an error, the
// event stays and is sent again by the schedule.
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

// delivery is what is stored: no URL and no secret.
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

// lookUpTimeout is what an attempt may take beyond the client's timeout, for Endpoints
// and the function of WithOnGone.
const lookUpTimeout = 15 * time.Second

// NewDispatcher returns a dispatcher. The error is an ErrOption. An option that is nil is
// ignored.
func NewDispatcher(
	endpoints Endpoints, client *Client, opts ...DispatcherOption,
) (d *Dispatcher, err error) {
	if endpoints == nil || client == nil {
		return nil, fmt.Errorf("%w: a dispatcher needs endpoints and a client", ErrOption)
	}
	d = &Dispatcher{
		find: endpoints.Endpoint, client: client, schedule: schedule(),
		attempts: maxAttempts,
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
		job.WithBackoff(d.schedule),
		job.WithTimeout(client.config.timeout+lookUpTimeout))
	return d, nil
}

// Enqueue stores an event for one receiver and returns its id, which every attempt has.
// In a transaction of xdb it is part of it. Data is encoded now. What is wrong with the
// event is told now: ErrEvent, ErrPayloadTooLarge; what is wrong with the receiver, at
// the delivery. Options are those of the durable job, such as a delay.
func (d *Dispatcher) Enqueue(
	ctx context.Context, endpointID string, e Event, opts ...job.EnqueueOption,
) (id string, err error) {
	return d.EnqueueAll(ctx, []string{endpointID}, e, opts...)
}

// EnqueueAll stores an event for each of the receivers, all or none. They get it under
// the same id, and independently of each other.
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
			return "", fmt.Errorf("%w: the id is empty", ErrUnknownEndpoint)
		}
		all = append(all, delivery{
			ID: e.ID, Endpoint: to, Type: e.Type,
			Timestamp: e.Timestamp.UTC(), Data: encoded,
		})
	}
	if _, err := d.kind.EnqueueMany(ctx, all, opts...); err != nil {
		return "", fmt.Errorf("webhook: store the event: %w", err)
	}
	return e.ID, nil
}

// Handler delivers what was stored, for job.WithHandlers.
//
// An event is done when the receiver answers 2xx. It is dead at once where the receiver
// is unknown, its URL is not allowed, its address is blocked, or it answers 410, of which
// the function of WithOnGone is told. Everything else is tried again by the schedule, or
// when Retry-After says so or the circuit may be closed, where that is later. An attempt
// that an open circuit has kept back counts: the events of a receiver that is dead for
// good end too.
func (d *Dispatcher) Handler() job.Handler { return d.kind.Handle(d.deliver) }

func (d *Dispatcher) deliver(ctx context.Context, stored delivery) error {
	to, err := find(ctx, d.find, stored.Endpoint)
	if err == nil {
		_, err = d.client.Send(ctx, to, stored.event())
	}
	return d.verdict(ctx, stored, err)
}

func (d *Dispatcher) verdict(ctx context.Context, stored delivery, err error) error {
	wait, later := RetryAfter(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrGone):
		return d.gone(ctx, stored, err)
	case isPermanent(err):
		return job.Dead(err)
	case later:
		info, _ := job.InfoFrom(ctx)
		if errors.Is(err, ErrCircuitOpen) { // all events of the receiver have the same wait
			wait += rand.N(wait/5 + 1)
		}
		return job.RetryAfter(err, max(wait, d.schedule(info.Attempt)))
	default:
		return err
	}
}

func (d *Dispatcher) gone(ctx context.Context, stored delivery, err error) error {
	d.client.config.log.Warn(ctx, "webhook receiver is gone",
		slog.String("endpoint", stored.Endpoint), slog.String("webhook_id", stored.ID))
	if d.onGone == nil {
		return job.Dead(err)
	}
	if told := d.onGone(ctx, stored.Endpoint); told != nil {
		return fmt.Errorf("%w, and was not disabled: %w", err, told)
	}
	return job.Dead(err)
}
