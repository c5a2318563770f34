package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// Defaults of a worker.
const (
	defaultConcurrency         = 10
	defaultPollInterval        = time.Second
	defaultGracefulStopTimeout = 30 * time.Second
)

// Option configures a worker.
type Option func(*config)

type config struct {
	handlers    map[string]*Handler
	concurrency int
	poll        time.Duration
	stopTimeout time.Duration
	log         *xlog.LogNamedLogger
	faults      []error
}

func newConfig(options []Option) *config {
	c := &config{
		handlers: map[string]*Handler{}, concurrency: defaultConcurrency, poll: defaultPollInterval,
		stopTimeout: defaultGracefulStopTimeout, log: xlog.WithName(xlog.NamedTASK),
	}
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	return c
}

// WithHandlers adds handlers, one for each kind. It may be used several times.
func WithHandlers(handlers ...Handler) Option {
	return func(c *config) {
		for _, h := range handlers {
			switch {
			case h.kind == nil:
				c.fault("WithHandlers: invalid handler: create it with Kind.Handle")
			case c.handlers[h.kind.name] != nil:
				c.fault("WithHandlers: the kind " + h.kind.name + " has two handlers")
			default:
				c.handlers[h.kind.name] = &h
			}
		}
	}
}

// WithConcurrency sets how many jobs run concurrently in this process. The default is 10.
func WithConcurrency(n int) Option { return func(c *config) { c.concurrency = n } }

// WithPollInterval sets the average interval of polls for jobs without a notification,
// such as jobs from other processes. The default is one second.
func WithPollInterval(d time.Duration) Option { return func(c *config) { c.poll = d } }

// WithGracefulStopTimeout sets how long shutdown waits for running jobs. The
// application's shutdown timeout also applies. The default is 30 s.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) { c.stopTimeout = d }
}

// fault records an invalid option.
func (c *config) fault(what string) {
	c.faults = append(c.faults, fmt.Errorf("job: %w: %s", ErrOption, what))
}

// check returns the queue of ctx, and all errors of the options.
func (c *config) check(ctx context.Context) (*Queue, error) {
	faults := slices.Clone(c.faults)
	wrong := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults,
				fmt.Errorf("job: %w: "+format, append([]any{ErrOption}, args...)...))
		}
	}
	wrong(len(c.handlers) == 0 && len(faults) == 0, "no handler: add WithHandlers")
	wrong(c.concurrency < 1, "WithConcurrency: %d is less than 1", c.concurrency)
	wrong(c.poll <= 0, "WithPollInterval: %s is not positive", c.poll)
	wrong(c.stopTimeout <= 0, "WithGracefulStopTimeout: %s is not positive", c.stopTimeout)
	q, err := GetQueue(ctx)
	if err != nil {
		faults = append(faults, err)
	}
	return q, errors.Join(faults...)
}

func (c *config) kinds() []string { return slices.Sorted(maps.Keys(c.handlers)) }

// longest returns the longest timeout of the kinds, plus lateGrace.
func (c *config) longest() time.Duration {
	var longest time.Duration
	for _, h := range c.handlers {
		longest = max(longest, h.kind.timeout)
	}
	return longest + lateGrace
}
