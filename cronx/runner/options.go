package runner

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/cronx"
)

// Defaults of the options.
const (
	// DefaultGracefulStopTimeout is how long the shutdown waits for running jobs.
	DefaultGracefulStopTimeout = 30 * time.Second
	// DefaultLeaseTTL is how long a crashed replica blocks runs of a job without overlap.
	DefaultLeaseTTL = 30 * time.Second
)

// ErrOption reports an invalid option of the runner.
var ErrOption = errors.New("cronx/runner: invalid option")

// Option configures the runner.
type Option func(*config)

type config struct {
	log         *xlog.LogNamedLogger
	zone        *time.Location
	stopTimeout time.Duration
	jobs        []*cronx.Job
	leaseTTL    time.Duration
	oneProcess  bool
	now         func() time.Time
	problems    []error
}

func newConfig(options []Option) *config {
	c := &config{
		log: xlog.WithName(xlog.NamedCRON), zone: time.Local,
		stopTimeout: DefaultGracefulStopTimeout, leaseTTL: DefaultLeaseTTL,
		now: time.Now,
	}
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	return c
}

// WithRegister adds jobs. It may be used several times.
func WithRegister(jobs ...*cronx.Job) Option {
	return func(c *config) { c.jobs = append(c.jobs, jobs...) }
}

// WithLocation sets the time zone of jobs that do not set one. The default is the local
// zone (TZ). Use the same zone for all replicas.
func WithLocation(zone *time.Location) Option {
	return func(c *config) {
		c.rejectIf("WithLocation", zone == nil, "the location is nil")
		c.zone = zone
	}
}

// WithLogger sets the logger. The default is the logger named CRON.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		c.rejectIf("WithLogger", log == nil, "the logger is nil")
		c.log = cmp.Or(log, c.log)
	}
}

// WithGracefulStopTimeout sets how long the shutdown waits for running jobs. It then
// cancels their contexts and returns an error with their names. The application's
// shutdown timeout also applies. The default is DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		c.rejectIf("WithGracefulStopTimeout", d <= 0, fmt.Sprintf("%s is not positive", d))
		c.stopTimeout = d
	}
}

// WithLeaseTTL sets the TTL of leases of single-run jobs without overlap. A crashed
// replica blocks other runs of the job for this time. A run is canceled if the backend is
// unavailable for two thirds of it. The default is DefaultLeaseTTL.
func WithLeaseTTL(d time.Duration) Option {
	return func(c *config) {
		c.rejectIf("WithLeaseTTL", d < time.Second || d > xlease.MaxTTL,
			fmt.Sprintf("%s (accepted: 1s to %s)", d, xlease.MaxTTL))
		c.leaseTTL = d
	}
}

// WithOneProcess declares that the application runs as a single process. Single-run jobs
// then require no backend.
func WithOneProcess() Option { return func(c *config) { c.oneProcess = true } }

// rejectIf records a problem if the option is invalid.
func (c *config) rejectIf(option string, invalid bool, problem string) {
	if invalid {
		c.problems = append(c.problems, fmt.Errorf("%w: %s: %s", ErrOption, option, problem))
	}
}
