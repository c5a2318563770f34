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

// What holds where nothing else is said.
const (
	// DefaultGracefulStopTimeout is how long runs may take at the stop.
	DefaultGracefulStopTimeout = 30 * time.Second
	// DefaultLeaseTTL is how long a replica that has died keeps others from running a job
	// which does not overlap.
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

// WithRegister adds jobs. It may be given several times.
func WithRegister(jobs ...*cronx.Job) Option {
	return func(c *config) { c.jobs = append(c.jobs, jobs...) }
}

// WithLocation reads the specs of jobs without a time zone of their own in zone. The
// default is the local one, which TZ names; replicas of a cluster should have one zone.
func WithLocation(zone *time.Location) Option {
	return func(c *config) {
		c.refuse("WithLocation", zone == nil, "the location is nil")
		c.zone = zone
	}
}

// WithLogger has the runner's lines written by log. The default is the logger CRON.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		c.refuse("WithLogger", log == nil, "the logger is nil")
		c.log = cmp.Or(log, c.log)
	}
}

// WithGracefulStopTimeout bounds how long runs that go on may take at the stop; then
// their contexts end, and the stop is an error that names them. The application's
// shutdown timeout bounds it too. The default is DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		c.refuse("WithGracefulStopTimeout", d <= 0, fmt.Sprintf("%s is no duration above 0", d))
		c.stopTimeout = d
	}
}

// WithLeaseTTL is for jobs of cronx.WithSingleRun that do not overlap: a replica that has
// died keeps the others from running them for so long. A run is cut off where the backend
// does not answer for two thirds of it. The default is DefaultLeaseTTL.
func WithLeaseTTL(d time.Duration) Option {
	return func(c *config) {
		c.refuse("WithLeaseTTL", d < time.Second || d > xlease.MaxTTL,
			fmt.Sprintf("%s (accepted: 1s to %s)", d, xlease.MaxTTL))
		c.leaseTTL = d
	}
}

// WithOneProcess says that the application is one process and no cluster, in development
// or by design. Then single runs need no backend: this process decides.
func WithOneProcess() Option { return func(c *config) { c.oneProcess = true } }

// refuse notes what is wrong with an option, for the start to report.
func (c *config) refuse(option string, wrong bool, problem string) {
	if wrong {
		c.faults = append(c.faults, fmt.Errorf("%w: %s: %s", ErrOption, option, problem))
	}
}
