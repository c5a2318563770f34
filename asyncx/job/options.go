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
	errs        []error
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

// WithHandlers adds handlers, at most one per kind. It may be used several times.
func WithHandlers(handlers ...Handler) Option {
	return func(c *config) {
		for _, h := range handlers {
			switch {
			case h.kind == nil:
				c.addError("WithHandlers: invalid handler: create it with Kind.Handle")
			case c.handlers[h.kind.name] != nil:
				c.addError("WithHandlers: the kind " + h.kind.name + " has two handlers")
			default:
				c.handlers[h.kind.name] = &h
			}
		}
	}
}

// WithConcurrency sets how many jobs run concurrently in this process. The default is 10.
func WithConcurrency(n int) Option { return func(c *config) { c.concurrency = n } }

// WithPollInterval sets the average interval of polls. Polls find jobs without a
// notification, such as jobs from other processes. The default is one second.
func WithPollInterval(d time.Duration) Option { return func(c *config) { c.poll = d } }

// WithGracefulStopTimeout sets how long shutdown waits for running jobs. The
// application's shutdown timeout also applies. The default is 30 s.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) { c.stopTimeout = d }
}

// addError records an invalid option.
func (c *config) addError(problem string) {
	c.errs = append(c.errs, fmt.Errorf("job: %w: %s", ErrOption, problem))
}

// check returns the queue of ctx, or the errors of all invalid options.
func (c *config) check(ctx context.Context) (*Queue, error) {
	errs := slices.Clone(c.errs)
	reject := func(invalid bool, format string, args ...any) {
		if invalid {
			errs = append(errs,
				fmt.Errorf("job: %w: "+format, append([]any{ErrOption}, args...)...))
		}
	}
	reject(len(c.handlers) == 0 && len(errs) == 0, "no handler: add WithHandlers")
	reject(c.concurrency < 1, "WithConcurrency: %d is less than 1", c.concurrency)
	reject(c.poll <= 0, "WithPollInterval: %s is not positive", c.poll)
	reject(c.stopTimeout <= 0, "WithGracefulStopTimeout: %s is not positive", c.stopTimeout)
	q, err := GetQueue(ctx)
	if err != nil {
		errs = append(errs, err)
	}
	return q, errors.Join(errs...)
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
