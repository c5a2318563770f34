package asyncx

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/core/common/xlog"
)

// Option configures a task.
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

// WithName sets the name for logs and errors. The default is the name of the function.
func WithName(name string) Option {
	return func(c *config) {
		if name != "" {
			c.name = name
		}
	}
}

// WithLogger sets the logger. The default is the logger TASK.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		if log == nil {
			c.faults = append(c.faults, fmt.Errorf("%w: WithLogger: the logger is nil", ErrOption))
			return
		}
		c.log = log
	}
}

// WithTimeout sets the timeout of each attempt. The cause of the canceled context is
// ErrTimeout. By default there is no timeout except at shutdown.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.faults = append(c.faults,
				fmt.Errorf("%w: WithTimeout: %s is not positive", ErrOption, d))
		}
		c.timeout = d
	}
}

// WithRetry runs the task up to attempts times, until an attempt returns no error and
// does not panic. p sets the wait between attempts; nil means backoff.Default. A task
// that waits for a retry does not count as running.
func WithRetry(attempts int, p backoff.Policy) Option {
	return func(c *config) {
		if attempts < 1 {
			c.faults = append(c.faults,
				fmt.Errorf("%w: WithRetry: %d attempts: use at least 1", ErrOption, attempts))
		}
		if p == nil {
			p = backoff.Default()
		}
		c.attempts, c.backoff = attempts, p
	}
}
