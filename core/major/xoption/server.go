package xoption

import (
	"cmp"
	"net"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// WithAddress listens on host:port and overrides PLINTH_HOST and PLINTH_PORT. Port 0
// selects a free port.
func WithAddress(address string) Option {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return invalid("WithAddress: %q is not host:port", address)
	}
	return setting(func(s *startup.Settings) { s.Address = address })
}

// WithListener serves an open listener, for example one that the process inherited. The
// shutdown closes it.
func WithListener(l net.Listener) Option {
	return requireArg("WithListener", l != nil,
		setting(func(s *startup.Settings) { s.Listener = l }))
}

// WithServer configures the HTTP server. The environment has already set
// ReadHeaderTimeout, ReadTimeout, IdleTimeout and MaxHeaderBytes. WriteTimeout limits a
// whole response, including streams, and replaces PLINTH_WRITE_TIMEOUT. The Runner later
// overwrites Handler, BaseContext and ErrorLog.
func WithServer(change func(*http.Server)) Option {
	return requireArg("WithServer", change != nil,
		setting(func(s *startup.Settings) { s.ChangeServer = append(s.ChangeServer, change) }))
}

// WithMaxBodyBytes limits the size of a request body and overrides PLINTH_MAX_BODY_BYTES.
// 0 means no limit.
func WithMaxBodyBytes(n int64) Option {
	if n < 0 {
		return invalid("WithMaxBodyBytes: %d is negative", n)
	}
	return WithServe(func(c *xhelper.Config) { c.MaxBodyBytes = cmp.Or(n, startup.NoLimit) })
}

// WithRequestTimeout cancels the context of a request after d and overrides
// PLINTH_REQUEST_TIMEOUT. 0 means no timeout.
func WithRequestTimeout(d time.Duration) Option {
	if d < 0 {
		return invalid("WithRequestTimeout: %s is negative", d)
	}
	return WithServe(func(c *xhelper.Config) { c.RequestTimeout = cmp.Or(d, startup.NoLimit) })
}

// WithDrainDelay keeps serving requests for d after the shutdown has started, and
// overrides PLINTH_DRAIN_DELAY.
func WithDrainDelay(d time.Duration) Option {
	if d < 0 {
		return invalid("WithDrainDelay: %s is negative", d)
	}
	return setting(func(s *startup.Settings) { s.DrainDelay = d })
}

// WithShutdownTimeout limits the whole shutdown and overrides PLINTH_SHUTDOWN_TIMEOUT.
func WithShutdownTimeout(d time.Duration) Option {
	if d <= 0 {
		return invalid("WithShutdownTimeout: %s is not positive", d)
	}
	return setting(func(s *startup.Settings) { s.ShutdownTimeout = d })
}
