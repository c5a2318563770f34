package runner

import "time"

// WithNow gives the runner another wall clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }
