package asyncx

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/core/common/xlog"
)

// Option changes how one piece of work runs.
type Option func(*config)

type config struct {
	name     string
	log      *xlog.LogNamedLogger
	timeout  time.Duration
	attempts int
	backoff  backoff.Policy
	faults   []error
}

func newConfig(name string, options []Option) (config, error) {
	c := config{name: name, log: xlog.WithName(xlog.NamedTASK), attempts: 1}
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	return c, errors.Join(c.faults...)
}

// WithName names the work in the log and in errors. The default is the name of the
// function.
func WithName(name string) Option {
	return func(c *config) {
		if name != "" {
			c.name = name
		}
	}
}

// WithLogger has the lines of the work written by log. The default is the logger TASK.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		if log == nil {
			c.faults = append(c.faults, fmt.Errorf("%w: WithLogger: the logger is nil", ErrOption))
			return
		}
		c.log = log
	}
}

// WithTimeout bounds each attempt: its context ends then, with the cause ErrTimeout. By
// default there is no bound but the stop.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.faults = append(c.faults,
				fmt.Errorf("%w: WithTimeout: %s is no duration above 0", ErrOption, d))
		}
		c.timeout = d
	}
}

// WithRetry makes up to attempts attempts, until one ends without an error and without a
// panic, and waits in between as p says; a nil p is backoff.Default. Work that waits
// takes no place of work that runs.
func WithRetry(attempts int, p backoff.Policy) Option {
	return func(c *config) {
		if attempts < 1 {
			c.faults = append(c.faults,
				fmt.Errorf("%w: WithRetry: %d attempts are none", ErrOption, attempts))
		}
		if p == nil {
			p = backoff.Default()
		}
		c.attempts, c.backoff = attempts, p
	}
}
