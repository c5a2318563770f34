// Package asynq keeps durable jobs with asynq on Redis.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(asynq.Open())}}
//
// It uses the Redis of the application's cache, in each of its modes, and needs version
// 6.2 or later. A job is as durable as that Redis is: what it has not written to its disk
// is lost with it.
//
// asynq has one queue for each kind and priority, so that a worker takes no jobs that it
// cannot do. The queues are named <queue>:<kind>:<priority>, where <queue> is that of
// WithQueue. asynq's own tools show them, with dead jobs as archived ones.
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

// takeOver is how long asynq takes to give the job of a dead worker to another one, at
// most: the lease of 30 s, another 30 s for clocks that differ, and a minute between two
// looks. It has no setting for any of them.
const takeOver = 2 * time.Minute

// ErrTaken is the cause of an attempt's context that ended because the job may be another
// worker's by now: the lease could not be renewed in time, or somebody has cancelled the
// task with asynq's tools. What becomes of the attempt does not count then.
var ErrTaken = errors.New("asynq: the job may be another worker's")

var errNoClient = errors.New("asynq: the application has no Redis client: give xoption.WithCache with NOSQL_DRIVER=redis and import " +
	"_ \"github.com/plinthgo/plinth/cacheplugins/redis\", or give WithClient")

// Option configures the engine.
type Option func(*config)

type config struct {
	client    redis.UniversalClient
	queue     string
	retention time.Duration
	faults    []error
}

func (c *config) refuse(format string, args ...any) {
	c.faults = append(c.faults,
		fmt.Errorf("asynq: %w: "+format, append([]any{job.ErrOption}, args...)...))
}

// WithClient gives the Redis client, instead of that of the application's cache. The
// caller closes it.
func WithClient(client redis.UniversalClient) Option {
	return func(c *config) {
		if client == nil {
			c.refuse("WithClient: the client is nil")
		}
		c.client = client
	}
}

// validQueue keeps braces out: asynq puts the name between those that choose the slot in
// a cluster.
var validQueue = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,100}$`)

// WithQueue names the queue: 1 to 100 characters of [A-Za-z0-9._:-]. Services that share
// a Redis and have different names do not see one another's jobs; replicas, and a worker
// in a process of its own, need the same one. The default is NOSQL_PREFIX without colons
// at its end, or else the name of the application, each with - for other characters.
func WithQueue(name string) Option {
	return func(c *config) {
		if !validQueue.MatchString(name) {
			c.refuse("WithQueue: %.120q is no name: use 1 to 100 of [A-Za-z0-9._:-]", name)
		}
		c.queue = name
	}
}

// WithRetention keeps jobs that are done for that time, at least a second. The default is
// to forget them at once. What counts is the option of the process that stores the job.
func WithRetention(d time.Duration) Option {
	return func(c *config) {
		if d < time.Second {
			c.refuse("WithRetention: %s is less than 1s", d)
		}
		c.retention = d
	}
}

// Open returns what opens the engine on the Redis of the application's cache, for
// job.Init. It asks the server for an answer.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.faults...); err != nil {
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

var notInQueue = regexp.MustCompile(`[^A-Za-z0-9._:-]`)

func defaultQueue() string {
	name := strings.TrimRight(xenv.GetEnvString(xenv.NoSqlPrefix, ""), ":")
	if name == "" {
		name = xenv.ApplicationName()
	}
	name = notInQueue.ReplaceAllString(name, "-")
	return name[:min(len(name), 100)]
}

// engine implements driver.Engine.
type engine struct {
	client    redis.UniversalClient
	names     names
	retention time.Duration
	wakes     wake.Workers
	closed    atomic.Bool
}

// Capabilities implements driver.Engine.
func (*engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{Interface: 1, Name: "asynq on redis", TakeoverTimeout: takeOver}
}

// Ping implements driver.Engine.
func (e *engine) Ping(ctx context.Context) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	return failed(ctx, "ping", e.client.Ping(ctx).Err())
}

// Close implements driver.Engine. The client stays open.
func (e *engine) Close() error {
	e.closed.Store(true)
	return nil
}

// open returns the error of a call after Close, or with a context that has ended.
func (e *engine) open(ctx context.Context) error {
	if e.closed.Load() {
		return fmt.Errorf("asynq: %w", driver.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("asynq: %w", err)
	}
	return nil
}

// failed returns an error with that of the context, which asynq does not always wrap.
func failed(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("asynq: %s: %w: %w", what, ctx.Err(), err)
	default:
		return fmt.Errorf("asynq: %s: %w", what, err)
	}
}

func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not looked since the last one
	}
}
