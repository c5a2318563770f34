package webhook

import (
	"net"
	"time"
)

// The waits and attempts of a dispatcher.
var Schedule = schedule

// MaxAttempts is how often an event is sent by the schedule.
const MaxAttempts = maxAttempts

// WithClock takes the time of signatures and of Retry-After dates from now.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithResolver looks up names with r.
func WithResolver(r *net.Resolver) Option { return func(c *config) { c.resolver = r } }

// WithFailures opens a circuit after so many failures in a row.
func WithFailures(n uint32) Option { return func(c *config) { c.breaker.failures = n } }
