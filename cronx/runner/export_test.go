package runner

import "time"

// WithNow sets the wall clock.
func WithNow(now func() time.Time) Option { return func(c *config) { c.now = now } }
