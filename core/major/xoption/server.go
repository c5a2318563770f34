package xoption

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
)

// WithAddress listens on host:port, whatever PLINTH_HOST and PLINTH_PORT say. Port 0 takes a free one.
func WithAddress(address string) Option {
	return func(p *Plan) {
		if _, _, err := net.SplitHostPort(address); err != nil {
			p.Problem(fmt.Errorf("xoption: WithAddress: %q is not host:port", address))
		}
		p.Address = address
	}
}

// WithListener serves a listener that is already open, such as one that was passed to the process. It is closed at the
// stop.
func WithListener(l net.Listener) Option {
	return func(p *Plan) {
		if l == nil {
			p.Problem(errors.New("xoption: WithListener: the listener is nil"))
		}
		p.Listener = l
	}
}

// WithServer changes the HTTP server: ReadHeaderTimeout, ReadTimeout, IdleTimeout and MaxHeaderBytes have their defaults or
// what the environment says, WriteTimeout is none because it would cut streams. Handler, BaseContext and ErrorLog are
// set afterwards.
func WithServer(change func(*http.Server)) Option {
	return func(p *Plan) { p.Server = appendFunc(p, "WithServer", p.Server, change) }
}

// WithMaxBodyBytes bounds the body of a request, whatever PLINTH_MAX_BODY_BYTES says; 0 is no limit.
func WithMaxBodyBytes(n int64) Option {
	if n < 0 {
		return func(p *Plan) { p.Problem(fmt.Errorf("xoption: WithMaxBodyBytes: %d is negative", n)) }
	}
	if n == 0 {
		n = -1 // what the middleware takes for no limit
	}
	return WithServe(func(c *xHelper.Config) { c.MaxBodyBytes = n })
}

// WithDrainDelay goes on serving for d after the stop has begun, whatever PLINTH_DRAIN_DELAY says.
func WithDrainDelay(d time.Duration) Option {
	return func(p *Plan) {
		if d < 0 {
			p.Problem(fmt.Errorf("xoption: WithDrainDelay: %s is negative", d))
		}
		p.DrainDelay = &d
	}
}

// WithShutdownTimeout bounds the whole stop, whatever PLINTH_SHUTDOWN_TIMEOUT says.
func WithShutdownTimeout(d time.Duration) Option {
	return func(p *Plan) {
		if d <= 0 {
			p.Problem(fmt.Errorf("xoption: WithShutdownTimeout: %s is not positive", d))
		}
		p.ShutdownTimeout = &d
	}
}
