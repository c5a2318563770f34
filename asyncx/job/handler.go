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

// Handler does the jobs of one kind.
type Handler struct {
	kind *kind
	do   func(ctx context.Context, args []byte) error
}

// Handle returns the handler that does jobs of the kind with fn. fn may run several times
// for one job, and several times at the same moment for different ones. Its context has
// the values of the application, the id of the request that stored the job, and Info; it
// ends with the timeout of the kind, when the stop does not wait any longer, and when the
// job was given to another worker.
//
// An error lets the job be tried again, unless it is of Dead, RetryAfter or Snooze. A
// panic is an error.
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

// Info is what a handler can know of the job that it does.
type Info struct {
	// ID is the job's, the same at each attempt.
	ID string
	// Kind is the name of its kind.
	Kind string
	// Attempt counts from 1; MaxAttempts is the last one.
	Attempt, MaxAttempts int
	// CreatedAt is when the job was stored.
	CreatedAt time.Time
}

// infoKey finds the Info in a context.
type infoKey struct{}

// InfoFrom returns the job that ctx is the context of.
func InfoFrom(ctx context.Context) (Info, bool) {
	info, ok := ctx.Value(infoKey{}).(Info)
	return info, ok
}

// errTimeout is the cause of a context that ended with the timeout of the kind.
var errTimeout = errors.New("job: the attempt took too long")

// request returns the context of an attempt, in which the id and the language of the
// request are that stored the job. A job that no request has stored gets an id of its
// own.
func request(ctx context.Context, a driver.Attempt) context.Context {
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

// attempt calls the handler.
func (h *Handler) attempt(ctx context.Context, args []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.kind.timeout, errTimeout)
	defer cancel()
	err := xhook.Guard(func() error { return h.do(ctx, args) })
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) && !errors.Is(err, errTimeout) {
		return fmt.Errorf("%w: %w", errTimeout, err)
	}
	return err
}
