package xoption

import (
	"cmp"
	"net"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// WithAddress listens on host:port, whatever PLINTH_HOST and PLINTH_PORT say. Port 0
// takes a free one.
func WithAddress(address string) Option {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return wrong("WithAddress: %q is not host:port", address)
	}
	return setting(func(s *startup.Settings) { s.Address = address })
}

// WithListener serves a listener that is already open, such as one that was passed to the
// process. It is closed at the stop.
func WithListener(l net.Listener) Option {
	return given("WithListener", l != nil, setting(func(s *startup.Settings) { s.Listener = l }))
}

// WithServer changes the HTTP server: ReadHeaderTimeout, ReadTimeout, IdleTimeout and
// MaxHeaderBytes have their defaults or what the environment says. WriteTimeout, which
// bounds a whole response, replaces PLINTH_WRITE_TIMEOUT, and cuts streams. Handler,
// BaseContext and ErrorLog are set afterwards.
func WithServer(change func(*http.Server)) Option {
	return given("WithServer", change != nil,
		setting(func(s *startup.Settings) { s.ChangeServer = append(s.ChangeServer, change) }))
}

// WithMaxBodyBytes bounds the body of a request, whatever PLINTH_MAX_BODY_BYTES says; 0
// is no limit.
func WithMaxBodyBytes(n int64) Option {
	if n < 0 {
		return wrong("WithMaxBodyBytes: %d is negative", n)
	}
	return WithServe(func(c *xhelper.Config) { c.MaxBodyBytes = cmp.Or(n, startup.NoLimit) })
}

// WithRequestTimeout ends the context of a request after d, whatever
// PLINTH_REQUEST_TIMEOUT says; 0 is no limit.
func WithRequestTimeout(d time.Duration) Option {
	if d < 0 {
		return wrong("WithRequestTimeout: %s is negative", d)
	}
	return WithServe(func(c *xhelper.Config) { c.RequestTimeout = cmp.Or(d, startup.NoLimit) })
}

// WithDrainDelay goes on serving for d after the stop has begun, whatever
// PLINTH_DRAIN_DELAY says.
func WithDrainDelay(d time.Duration) Option {
	if d < 0 {
		return wrong("WithDrainDelay: %s is negative", d)
	}
	return setting(func(s *startup.Settings) { s.DrainDelay = d })
}

// WithShutdownTimeout bounds the whole stop, whatever PLINTH_SHUTDOWN_TIMEOUT says.
func WithShutdownTimeout(d time.Duration) Option {
	if d <= 0 {
		return wrong("WithShutdownTimeout: %s is not positive", d)
	}
	return setting(func(s *startup.Settings) { s.ShutdownTimeout = d })
}
