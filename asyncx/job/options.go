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

// The defaults of a worker.
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

// WithHandlers adds handlers, one for each kind. It may be given several times.
func WithHandlers(handlers ...Handler) Option {
	return func(c *config) {
		for _, h := range handlers {
			switch {
			case h.kind == nil:
				c.fault("WithHandlers: a handler comes from Handle of a kind")
			case c.handlers[h.kind.name] != nil:
				c.fault("WithHandlers: the kind " + h.kind.name + " has two handlers")
			default:
				c.handlers[h.kind.name] = &h
			}
		}
	}
}

// WithConcurrency says how many jobs run at the same time in this process. The default is
// 10.
func WithConcurrency(n int) Option { return func(c *config) { c.concurrency = n } }

// WithPollInterval says how often, on average, the worker looks for jobs of which nothing
// tells it, such as those that another process has stored. The default is a second.
func WithPollInterval(d time.Duration) Option { return func(c *config) { c.poll = d } }

// WithGracefulStopTimeout bounds how long the stop waits for jobs that run. The
// application's shutdown timeout bounds it too. The default is 30 s.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) { c.stopTimeout = d }
}

// fault notes a problem of the options.
func (c *config) fault(what string) {
	c.faults = append(c.faults, fmt.Errorf("job: %w: %s", ErrOption, what))
}

// check finds the queue, and returns every problem of the options.
func (c *config) check(ctx context.Context) (*Queue, error) {
	faults := slices.Clone(c.faults)
	wrong := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults,
				fmt.Errorf("job: %w: "+format, append([]any{ErrOption}, args...)...))
		}
	}
	wrong(len(c.handlers) == 0 && len(faults) == 0, "there is no handler: give WithHandlers")
	wrong(c.concurrency < 1, "WithConcurrency: %d is not at least 1", c.concurrency)
	wrong(c.poll <= 0, "WithPollInterval: %s is no duration above 0", c.poll)
	wrong(c.stopTimeout <= 0, "WithGracefulStopTimeout: %s is no duration above 0", c.stopTimeout)
	q, err := GetQueue(ctx)
	if err != nil {
		faults = append(faults, err)
	}
	return q, errors.Join(faults...)
}

func (c *config) kinds() []string { return slices.Sorted(maps.Keys(c.handlers)) }

// longest is the longest timeout of the kinds, with the time that a handler is given to
// notice.
func (c *config) longest() time.Duration {
	var longest time.Duration
	for _, h := range c.handlers {
		longest = max(longest, h.kind.timeout)
	}
	return longest + lateGrace
}
