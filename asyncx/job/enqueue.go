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

// Keys of driver.Job.Meta.
const (
	metaRequest  = "request_id"
	metaLanguage = "accept_language"
)

// maxLanguage is the maximum length of a stored Accept-Language header, in bytes.
const maxLanguage = 200

// enqueueConfig contains the options of a call of Enqueue or EnqueueMany.
type enqueueConfig struct {
	priority    Priority
	maxAttempts int
	delay       time.Duration
	at          time.Time
	outside     bool
}

// EnqueueOption configures how a job is stored.
type EnqueueOption func(*enqueueConfig)

// WithDelay delays the first attempt by d, measured by the engine's clock. If WithDelay
// and WithRunAt are combined, the last one applies.
func WithDelay(d time.Duration) EnqueueOption {
	return func(e *enqueueConfig) { e.delay, e.at = d, time.Time{} }
}

// WithRunAt delays the first attempt until t, measured by the clock of this process. If t
// is in the past, the job runs immediately.
func WithRunAt(t time.Time) EnqueueOption {
	return func(e *enqueueConfig) { e.delay, e.at = 0, t }
}

// WithJobPriority overrides the priority of the kind.
func WithJobPriority(p Priority) EnqueueOption { return func(e *enqueueConfig) { e.priority = p } }

// WithJobMaxAttempts overrides the maximum number of attempts of the kind.
func WithJobMaxAttempts(n int) EnqueueOption { return func(e *enqueueConfig) { e.maxAttempts = n } }

// OutsideTransaction stores the job outside the transaction of ctx if the engine does not
// support transactions: the job runs even after a rollback. It has no effect with a
// transactional engine.
func OutsideTransaction() EnqueueOption { return func(e *enqueueConfig) { e.outside = true } }

// Enqueue stores a job and returns its ID. If ctx is in an xdb transaction, the job is
// stored when the transaction commits. If the engine does not support transactions,
// Enqueue in a transaction returns ErrTransaction; use xdb.OnCommit or
// OutsideTransaction.
func (k *Kind[T]) Enqueue(
	ctx context.Context, args T, options ...EnqueueOption,
) (id string, err error) {
	ids, err := k.EnqueueMany(ctx, []T{args}, options...)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// EnqueueMany atomically stores one job per element of args and returns their IDs in the
// order of args.
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
	if c := queue.Capabilities(); !c.Transactional && !e.outside && transaction.In(ctx) {
		return nil, fmt.Errorf("job: enqueue %s on %s: %w", k.name, c.Name, ErrTransaction)
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

func (k *kind) options(options []EnqueueOption) (enqueueConfig, error) {
	e := enqueueConfig{priority: k.priority, maxAttempts: k.maxAttempts}
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
		return e, fmt.Errorf("job: enqueue %s: %w: invalid priority %d",
			k.name, ErrOption, e.priority)
	case e.maxAttempts < 1:
		return e, fmt.Errorf("job: enqueue %s: %w: %d attempts: use at least 1",
			k.name, ErrOption, e.maxAttempts)
	case e.delay < 0:
		return e, fmt.Errorf("job: enqueue %s: %w: the delay is negative", k.name, ErrOption)
	}
	return e, nil
}

// metaOf returns the request ID and the language of ctx, which are stored with the job.
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

// validLanguage reports whether header can be stored. Clients control it, and databases
// reject some bytes.
func validLanguage(header string) bool {
	for _, c := range []byte(header) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return header != "" && len(header) <= maxLanguage
}
