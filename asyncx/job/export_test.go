package job

import "github.com/plinthgo/plinth/core/common/xlog"

// WithLogger sets the logger of the worker.
func WithLogger(log *xlog.LogNamedLogger) Option { return func(c *config) { c.log = log } }

// MaxArgs is the maximum size of encoded arguments, in bytes.
const MaxArgs = maxArgs
