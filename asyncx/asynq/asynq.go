// Package asynq stores durable jobs with asynq on Redis.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(asynq.Open())}}
//
// It uses the Redis client of the application's cache, in every mode, and requires Redis
// 6.2 or later. Jobs are as durable as the Redis server: a crash loses data that Redis
// has not persisted.
//
// Each kind and priority has its own asynq queue, so that a worker receives only jobs
// that it can run. The queue names are <queue>:<kind>:<priority>; WithQueue sets <queue>.
// asynq's own tools show the jobs, and dead jobs as archived.
package asynq

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/internal/wake"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// takeoverTimeout is the maximum time until asynq reassigns the job of a crashed worker:
// a lease of 30 s, a tolerated clock skew of 30 s, and up to one minute between two
// checks. asynq does not allow changing these times.
const takeoverTimeout = 2 * time.Minute

// ErrLeaseLost is the cause of a canceled attempt whose lease was not renewed in time, or
// whose task was canceled with asynq's tools. Another worker may have the job. The
// outcome of the attempt is ignored.
var ErrLeaseLost = errors.New("asynq: lease lost")

var errNoClient = errors.New("asynq: the application has no Redis client: use " +
	"xoption.WithCache with NOSQL_DRIVER=redis and import " +
	"_ \"github.com/plinthgo/plinth/cacheplugins/redis\", or use WithClient")

// Option configures the engine.
type Option func(*config)

type config struct {
	client    redis.UniversalClient
	queue     string
	retention time.Duration
	errs      []error
}

// addError records an invalid option.
func (c *config) addError(format string, args ...any) {
	c.errs = append(c.errs,
		fmt.Errorf("asynq: %w: "+format, append([]any{job.ErrOption}, args...)...))
}

// WithClient sets the Redis client, instead of the client of the application's cache. The
// caller closes it.
func WithClient(client redis.UniversalClient) Option {
	return func(c *config) {
		if client == nil {
			c.addError("WithClient: the client is nil")
		}
		c.client = client
	}
}

// validQueue excludes braces, because asynq uses them as the hash tag of cluster keys.
var validQueue = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,100}$`)

// WithQueue sets the queue name: 1 to 100 characters of [A-Za-z0-9._:-]. Services with
// different names do not share jobs. All replicas and separate worker processes of a
// service need the same name. The default is NOSQL_PREFIX without trailing colons, or
// else the application name, with invalid characters replaced by "-".
func WithQueue(name string) Option {
	return func(c *config) {
		if !validQueue.MatchString(name) {
			c.addError("WithQueue: invalid name %.120q: use 1 to 100 characters of [A-Za-z0-9._:-]",
				name)
		}
		c.queue = name
	}
}

// WithRetention sets how long completed jobs are kept, at least 1 s. By default they are
// deleted immediately. The option of the process that enqueues the job applies.
func WithRetention(d time.Duration) Option {
	return func(c *config) {
		if d < time.Second {
			c.addError("WithRetention: %s is less than 1s", d)
		}
		c.retention = d
	}
}

// Open returns an opener for job.Init. The opener uses the Redis client of the
// application's cache, and pings the server.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.errs...); err != nil {
			return nil, err
		}
		ctx = xctx.Unpooled(ctx)
		if c.client == nil {
			client, ok := ctx.Value(xctx.RedisClientKey).(redis.UniversalClient)
			if !ok {
				return nil, errNoClient
			}
			c.client = client
		}
		if c.queue == "" {
			c.queue = defaultQueue()
		}
		e := &engine{client: c.client, names: names{c.queue + ":"}, retention: c.retention}
		if err := e.Ping(ctx); err != nil {
			return nil, err
		}
		return e, nil
	}
}

var invalidInQueue = regexp.MustCompile(`[^A-Za-z0-9._:-]`)

func defaultQueue() string {
	name := strings.TrimRight(xenv.GetEnvString(xenv.NoSqlPrefix, ""), ":")
	if name == "" {
		name = xenv.ApplicationName()
	}
	name = invalidInQueue.ReplaceAllString(name, "-")
	return name[:min(len(name), 100)]
}

// engine implements driver.Engine.
type engine struct {
	client    redis.UniversalClient
	names     names
	retention time.Duration
	workers   wake.Workers
	closed    atomic.Bool
}

// Capabilities implements driver.Engine.
func (*engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{
		Interface: 1, Name: "asynq on redis", TakeoverTimeout: takeoverTimeout,
	}
}

// Ping implements driver.Engine.
func (e *engine) Ping(ctx context.Context) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	return wrapError(ctx, "ping", e.client.Ping(ctx).Err())
}

// Close implements driver.Engine. The client stays open.
func (e *engine) Close() error {
	e.closed.Store(true)
	return nil
}

// open returns an error after Close or if ctx is done.
func (e *engine) open(ctx context.Context) error {
	if e.closed.Load() {
		return fmt.Errorf("asynq: %w", driver.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("asynq: %w", err)
	}
	return nil
}

// wrapError wraps err with the operation, and with the context's error, which asynq does
// not always wrap.
func wrapError(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("asynq: %s: %w: %w", operation, ctx.Err(), err)
	default:
		return fmt.Errorf("asynq: %s: %w", operation, err)
	}
}

// notify sends to c without blocking.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a notification is pending
	}
}
