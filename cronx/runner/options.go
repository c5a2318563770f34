package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/cronx"
)

// What holds where nothing else is said.
const (
	// DefaultGracefulStopTimeout is how long runs may take at the stop.
	DefaultGracefulStopTimeout = 30 * time.Second
	// DefaultLeaseTTL is how long a replica that has died keeps others from running a job which does not overlap.
	DefaultLeaseTTL = 30 * time.Second
)

// ErrOption is what a wrong option of the runner is.
var ErrOption = errors.New("cronx/runner: wrong option")

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
	faults      []error
}

func newConfig(options []Option) *config {
	c := &config{
		log: xlog.WithName(xlog.NamedCRON), zone: time.Local, stopTimeout: DefaultGracefulStopTimeout, leaseTTL: DefaultLeaseTTL,
		now: time.Now,
	}
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	return c
}

// WithRegister adds jobs. It may be given several times.
func WithRegister(jobs ...*cronx.Job) Option {
	return func(c *config) { c.jobs = append(c.jobs, jobs...) }
}

// WithLocation reads the specs of jobs without a time zone of their own in zone. The default is the local one, which TZ
// names; replicas of a cluster should have one zone.
func WithLocation(zone *time.Location) Option {
	return func(c *config) {
		if zone == nil {
			c.fault("WithLocation", "the location is nil")
			return
		}
		c.zone = zone
	}
}

// WithLogger has the runner's lines written by log. The default is the logger CRON.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		if log == nil {
			c.fault("WithLogger", "the logger is nil")
			return
		}
		c.log = log
	}
}

// WithGracefulStopTimeout bounds how long runs that go on may take at the stop; then their contexts end, and the stop is an
// error that names them. The application's shutdown timeout bounds it too. The default is DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.fault("WithGracefulStopTimeout", fmt.Sprintf("%s is no duration above 0", d))
			return
		}
		c.stopTimeout = d
	}
}

// WithLeaseTTL is for jobs of cronx.WithSingleRun that do not overlap: a replica that has died keeps the others from running
// them for so long. A run is cut off where the backend does not answer for two thirds of it. The default is DefaultLeaseTTL.
func WithLeaseTTL(d time.Duration) Option {
	return func(c *config) {
		if d < time.Second || d > xlease.MaxTTL {
			c.fault("WithLeaseTTL", fmt.Sprintf("%s (accepted: 1s to %s)", d, xlease.MaxTTL))
			return
		}
		c.leaseTTL = d
	}
}

// WithOneProcess says that the application is one process and no cluster, in development or by design. Then single runs need
// no backend: this process decides.
func WithOneProcess() Option { return func(c *config) { c.oneProcess = true } }

// fault notes what is wrong with an option, for the start to report.
func (c *config) fault(option, problem string) {
	c.faults = append(c.faults, fmt.Errorf("%w: %s: %s", ErrOption, option, problem))
}
