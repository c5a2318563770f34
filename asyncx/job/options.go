package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
)

// The defaults of a worker.
const (
	DefaultConcurrency         = 10
	DefaultPollInterval        = time.Second
	DefaultGracefulStopTimeout = 30 * time.Second
)

// Option configures a worker.
type Option func(*config)

type config struct {
	queue       *Queue
	handlers    map[string]*Handler
	concurrency int
	poll        time.Duration
	stopTimeout time.Duration
	log         *xLog.LogNamedLogger
	faults      []error
}

func newConfig(options []Option) *config {
	c := &config{
		handlers: map[string]*Handler{}, concurrency: DefaultConcurrency, poll: DefaultPollInterval,
		stopTimeout: DefaultGracefulStopTimeout, log: xLog.WithName(xLog.NamedTASK),
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
			if h.kind == nil {
				c.refuse(true, "WithHandlers: a handler comes from Handle of a kind")
				continue
			}
			if !c.refuse(c.handlers[h.kind.name] != nil, "WithHandlers: the kind "+h.kind.name+" has two handlers") {
				c.handlers[h.kind.name] = &h
			}
		}
	}
}

// WithQueue gives the queue, instead of the one that the context carries.
func WithQueue(q *Queue) Option {
	return func(c *config) {
		if !c.refuse(q == nil, "WithQueue: the queue is nil") {
			c.queue = q
		}
	}
}

// WithConcurrency says how many jobs run at the same time in this process. The default is DefaultConcurrency.
func WithConcurrency(n int) Option {
	return func(c *config) {
		if !c.refuse(n < 1, fmt.Sprintf("WithConcurrency: %d is not at least 1", n)) {
			c.concurrency = n
		}
	}
}

// WithPollInterval says how often, on average, the worker looks for jobs of which nothing tells it, such as those that another
// process has stored. The default is DefaultPollInterval.
func WithPollInterval(d time.Duration) Option {
	return func(c *config) {
		if !c.refuse(d <= 0, fmt.Sprintf("WithPollInterval: %s is no duration above 0", d)) {
			c.poll = d
		}
	}
}

// WithGracefulStopTimeout bounds how long the stop waits for jobs that run. The application's shutdown timeout bounds it too.
// The default is DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		if !c.refuse(d <= 0, fmt.Sprintf("WithGracefulStopTimeout: %s is no duration above 0", d)) {
			c.stopTimeout = d
		}
	}
}

// WithLogger has the worker's lines written by log. The default is the logger TASK.
func WithLogger(log *xLog.LogNamedLogger) Option {
	return func(c *config) {
		if !c.refuse(log == nil, "WithLogger: the logger is nil") {
			c.log = log
		}
	}
}

// refuse notes a fault where there is one, and returns whether there is.
func (c *config) refuse(wrong bool, what string) bool { //nolint:revive // flag-parameter: the condition is the point
	if wrong {
		c.faults = append(c.faults, fmt.Errorf("xjob: %w: %s", ErrOption, what))
	}
	return wrong
}

// check returns every problem of the options, and finds the queue.
func (c *config) check(ctx context.Context) error {
	faults := slices.Clone(c.faults)
	if len(c.handlers) == 0 && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("xjob: %w: there is no handler: give WithHandlers", ErrOption))
	}
	if c.queue == nil {
		q, err := GetQueue(ctx)
		if err != nil {
			faults = append(faults, err)
		}
		c.queue = q
	}
	return errors.Join(faults...)
}

func (c *config) kinds() []string {
	kinds := make([]string, 0, len(c.handlers))
	for name := range c.handlers {
		kinds = append(kinds, name)
	}
	slices.Sort(kinds)
	return kinds
}

// longest is the longest timeout of the kinds, with the time that a handler is given to notice.
func (c *config) longest() time.Duration {
	var longest time.Duration
	for _, h := range c.handlers {
		longest = max(longest, h.kind.timeout)
	}
	return longest + cutOffGrace
}
