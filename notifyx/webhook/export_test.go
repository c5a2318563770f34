package webhook

import (
	"net"
	"time"
)

// Schedule returns the default schedule of a dispatcher.
var Schedule = schedule

// MaxAttempts is the default number of attempts.
const MaxAttempts = maxAttempts

// WithClock sets the clock for signatures and Retry-After dates.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithResolver sets the DNS resolver.
func WithResolver(r *net.Resolver) Option { return func(c *config) { c.resolver = r } }

// WithFailures sets the number of consecutive failures that opens a circuit.
func WithFailures(n uint32) Option { return func(c *config) { c.breaker.failures = n } }
