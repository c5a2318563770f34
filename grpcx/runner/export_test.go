package runner

import (
	"time"

	"github.com/plinthgo/plinth/grpcx/middleware"
)

// limit returns an option that changes the limits of the environment.
func limit(change func(*limitVariables)) Option {
	return func(c *config) {
		env := c.limits
		c.limits = func() (limitVariables, error) {
			v, err := env()
			change(&v)
			return v, err
		}
	}
}

// WithMaxConnections sets GRPC_MAX_CONNECTIONS.
func WithMaxConnections(n int) Option {
	return limit(func(v *limitVariables) { v.MaxConnections = n })
}

// WithMaxStreams sets GRPC_MAX_STREAMS.
func WithMaxStreams(n int) Option { return limit(func(v *limitVariables) { v.MaxStreams = n }) }

// WithMaxInflightBytes sets GRPC_MAX_INFLIGHT_BYTES.
func WithMaxInflightBytes(n int64) Option {
	return limit(func(v *limitVariables) { v.MaxInflightBytes = n })
}

// WithFirstMessageTimeout sets GRPC_FIRST_MESSAGE_TIMEOUT.
func WithFirstMessageTimeout(d time.Duration) Option {
	return limit(func(v *limitVariables) { v.FirstMessageTimeout = d })
}

// WithMiddleware replaces middleware.Default.
func WithMiddleware(registry *middleware.Registry) Option {
	return func(c *config) { c.registry = registry }
}
