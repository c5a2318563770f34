package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// Handler runs the jobs of one kind.
type Handler struct {
	kind *kind
	do   func(ctx context.Context, args []byte) error
}

// Handle returns a handler that runs fn for each job of the kind. fn may run several
// times for one job, and concurrently for different jobs.
//
// The context of fn has the values of the application, the request ID of the request that
// stored the job, and Info. It is canceled after the kind's timeout, when the shutdown
// timeout expires, and when the job is reassigned to another worker.
//
// If fn returns an error or panics, the job is retried after the backoff of the kind. An
// error of Dead, RetryAfter or Snooze changes this.
func (k *Kind[T]) Handle(fn func(ctx context.Context, args T) error) Handler {
	if fn == nil {
		panic(fmt.Errorf("job: kind %s: the handler is nil", k.name))
	}
	return Handler{kind: &k.kind, do: func(ctx context.Context, data []byte) error {
		args, err := k.decode(data)
		if err != nil {
			return Dead(err)
		}
		return fn(ctx, args)
	}}
}

// Info describes the job that a handler runs.
type Info struct {
	// ID is the ID of the job, the same for each attempt.
	ID string
	// Kind is the name of the kind.
	Kind string
	// Attempt is the number of the attempt, from 1 to MaxAttempts.
	Attempt, MaxAttempts int
	// CreatedAt is the time when the job was stored.
	CreatedAt time.Time
}

// infoKey is the context key of Info.
type infoKey struct{}

// InfoFrom returns the Info of ctx, if ctx belongs to a job.
func InfoFrom(ctx context.Context) (Info, bool) {
	info, ok := ctx.Value(infoKey{}).(Info)
	return info, ok
}

// errTimeout is the cause of a context that the kind's timeout canceled.
var errTimeout = errors.New("job: attempt timed out")

// requestContext returns the context of an attempt, with the request ID and language of
// the request that stored the job. Without such a request, it generates a request ID.
func requestContext(ctx context.Context, a driver.Attempt) context.Context {
	r := xctx.NewRequest(ctx, nil)
	if id := a.Meta[metaRequest]; xctx.ValidID(id) {
		r.SetID(id)
	} else {
		r.GenerateID()
	}
	r.SetAcceptLanguage(a.Meta[metaLanguage])
	return context.WithValue(r, infoKey{}, Info{
		ID: a.ID, Kind: a.Kind, Attempt: a.Number, MaxAttempts: a.MaxAttempts,
		CreatedAt: a.CreatedAt,
	})
}

// attempt calls the handler with the timeout of its kind.
func (h *Handler) attempt(ctx context.Context, args []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.kind.timeout, errTimeout)
	defer cancel()
	err := xhook.Guard(func() error { return h.do(ctx, args) })
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) && !errors.Is(err, errTimeout) {
		return fmt.Errorf("%w: %w", errTimeout, err)
	}
	return err
}
