package job

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// The keys of what travels with a job.
const (
	metaRequest  = "request_id"
	metaLanguage = "accept_language"
)

// maxLanguage bounds the Accept-Language header that travels with a job, in bytes.
const maxLanguage = 200

// enqueue is how one job, or one batch, is stored.
type enqueue struct {
	priority    Priority
	maxAttempts int
	delay       time.Duration
	at          time.Time
	outside     bool
}

// EnqueueOption changes how one job is stored.
type EnqueueOption func(*enqueue)

// WithDelay lets the job wait before its first attempt, by the engine's clock. Of it and
// WithRunAt the last one counts.
func WithDelay(d time.Duration) EnqueueOption {
	return func(e *enqueue) { e.delay, e.at = d, time.Time{} }
}

// WithRunAt lets the job wait until then, by this process's clock. A time that has passed
// is at once.
func WithRunAt(t time.Time) EnqueueOption {
	return func(e *enqueue) { e.delay, e.at = 0, t }
}

// WithJobPriority sets the job's priority, instead of its kind's.
func WithJobPriority(p Priority) EnqueueOption { return func(e *enqueue) { e.priority = p } }

// WithJobMaxAttempts says how often the job is tried, instead of its kind's number.
func WithJobMaxAttempts(n int) EnqueueOption { return func(e *enqueue) { e.maxAttempts = n } }

// OutsideTransaction stores the job although the engine takes no part in the transaction
// that ctx is in: it runs even where that is rolled back. With an engine that takes part
// it changes nothing.
func OutsideTransaction() EnqueueOption { return func(e *enqueue) { e.outside = true } }

// Enqueue stores a job and returns its id. Where ctx is in a transaction of xdb, the job
// is part of it: it exists once that has committed. With an engine that takes no part in
// transactions the error is then ErrTransaction: use xdb.OnCommit, or OutsideTransaction.
func (k *Kind[T]) Enqueue(
	ctx context.Context, args T, options ...EnqueueOption,
) (id string, err error) {
	ids, err := k.EnqueueMany(ctx, []T{args}, options...)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// EnqueueMany stores a job for each of the arguments, all or none, and returns their ids
// in that order.
func (k *Kind[T]) EnqueueMany(
	ctx context.Context, args []T, options ...EnqueueOption,
) (ids []string, err error) {
	ctx = xctx.Unpooled(ctx)
	queue, xerr := GetQueue(ctx)
	if xerr != nil {
		return nil, xerr
	}
	e, err := k.options(options)
	if err != nil {
		return nil, err
	}
	if t := queue.Capabilities(); !t.Transactional && !e.outside && transaction.In(ctx) {
		return nil, fmt.Errorf("job: enqueue %s on %s: %w", k.name, t.Name, ErrTransaction)
	}
	jobs := make([]driver.Job, len(args))
	ids = make([]string, len(args))
	meta := metaOf(ctx)
	for i := range args {
		data, err := k.encode(args[i])
		if err != nil {
			return nil, err
		}
		ids[i] = xutil.UUID().V7()
		jobs[i] = driver.Job{
			ID: ids[i], Kind: k.name, Args: data, Priority: int(e.priority), Delay: e.delay,
			MaxAttempts: e.maxAttempts, Meta: meta,
		}
	}
	if len(jobs) == 0 {
		return ids, nil
	}
	if err := queue.engine.Insert(ctx, jobs); err != nil {
		return nil, fmt.Errorf("job: enqueue %s: %w", k.name, err)
	}
	return ids, nil
}

func (k *kind) options(options []EnqueueOption) (enqueue, error) {
	e := enqueue{priority: k.priority, maxAttempts: k.maxAttempts}
	for _, option := range options {
		if option != nil {
			option(&e)
		}
	}
	if !e.at.IsZero() {
		e.delay = max(time.Until(e.at), 0)
	}
	switch {
	case !e.priority.valid():
		return e, fmt.Errorf("job: enqueue %s: %w: %d is no priority",
			k.name, ErrOption, e.priority)
	case e.maxAttempts < 1:
		return e, fmt.Errorf("job: enqueue %s: %w: %d attempts are none",
			k.name, ErrOption, e.maxAttempts)
	case e.delay < 0:
		return e, fmt.Errorf("job: enqueue %s: %w: the delay is negative", k.name, ErrOption)
	}
	return e, nil
}

// metaOf returns what of the request goes on in the job: its id and its language.
func metaOf(ctx context.Context) map[string]string {
	meta := map[string]string{}
	if id := xctxutil.GetRequestKey(ctx); xctx.ValidID(id) {
		meta[metaRequest] = id
	}
	if r := xctx.RequestFrom(ctx); r != nil && validLanguage(r.AcceptLanguage()) {
		meta[metaLanguage] = r.AcceptLanguage()
	}
	return meta
}

// validLanguage reports whether a header can be stored: it comes from outside, and a
// database refuses some bytes.
func validLanguage(header string) bool {
	for _, c := range []byte(header) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return header != "" && len(header) <= maxLanguage
}
