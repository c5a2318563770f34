package job

import "github.com/plinthgo/plinth/core/common/xlog"

// WithLogger has the worker's lines written by log.
func WithLogger(log *xlog.LogNamedLogger) Option { return func(c *config) { c.log = log } }

// MaxArgs is the largest size of encoded arguments, in bytes.
const MaxArgs = maxArgs
