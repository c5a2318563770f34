package xoption

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// WithAddress listens on host:port, whatever PLINTH_HOST and PLINTH_PORT say. Port 0 takes a free one.
func WithAddress(address string) Option {
	return func(p *startup.Plan) {
		if _, _, err := net.SplitHostPort(address); err != nil {
			p.Problem(fmt.Errorf("xoption: WithAddress: %q is not host:port", address))
		}
		p.Address = address
	}
}

// WithListener serves a listener that is already open, such as one that was passed to the process. It is closed at the
// stop.
func WithListener(l net.Listener) Option {
	return func(p *startup.Plan) {
		if l == nil {
			p.Problem(errors.New("xoption: WithListener: the listener is nil"))
		}
		p.Listener = l
	}
}

// WithServer changes the HTTP server: ReadHeaderTimeout, ReadTimeout, IdleTimeout and MaxHeaderBytes have their defaults or
// what the environment says. WriteTimeout, which bounds a whole response, replaces PLINTH_WRITE_TIMEOUT, and cuts streams. Handler, BaseContext and ErrorLog are
// set afterwards.
func WithServer(change func(*http.Server)) Option {
	return func(p *startup.Plan) { p.Server = appendFunc(p, "WithServer", p.Server, change) }
}

// WithMaxBodyBytes bounds the body of a request, whatever PLINTH_MAX_BODY_BYTES says; 0 is no limit.
func WithMaxBodyBytes(n int64) Option {
	if n < 0 {
		return func(p *startup.Plan) { p.Problem(fmt.Errorf("xoption: WithMaxBodyBytes: %d is negative", n)) }
	}
	if n == 0 {
		n = -1 // what the middleware takes for no limit
	}
	return WithServe(func(c *xhelper.Config) { c.MaxBodyBytes = n })
}

// WithRequestTimeout ends the context of a request after d, whatever PLINTH_REQUEST_TIMEOUT says; 0 is no limit.
func WithRequestTimeout(d time.Duration) Option {
	if d < 0 {
		return func(p *startup.Plan) { p.Problem(fmt.Errorf("xoption: WithRequestTimeout: %s is negative", d)) }
	}
	if d == 0 {
		d = -1 // no limit to the middleware
	}
	return WithServe(func(c *xhelper.Config) { c.RequestTimeout = d })
}

// WithRouteRequestTimeout is WithRequestTimeout for the routes with this pattern, such as "/reports/:id".
func WithRouteRequestTimeout(route string, d time.Duration) Option {
	if d < 0 {
		return func(p *startup.Plan) {
			p.Problem(fmt.Errorf("xoption: WithRouteRequestTimeout: %s: %s is negative", route, d))
		}
	}
	return WithServe(func(c *xhelper.Config) {
		c.RouteRequestTimeout = maps.Clone(c.RouteRequestTimeout)
		if c.RouteRequestTimeout == nil {
			c.RouteRequestTimeout = map[string]time.Duration{}
		}
		c.RouteRequestTimeout[route] = d
	})
}

// WithDrainDelay goes on serving for d after the stop has begun, whatever PLINTH_DRAIN_DELAY says.
func WithDrainDelay(d time.Duration) Option {
	return func(p *startup.Plan) {
		if d < 0 {
			p.Problem(fmt.Errorf("xoption: WithDrainDelay: %s is negative", d))
		}
		p.DrainDelay = &d
	}
}

// WithShutdownTimeout bounds the whole stop, whatever PLINTH_SHUTDOWN_TIMEOUT says.
func WithShutdownTimeout(d time.Duration) Option {
	return func(p *startup.Plan) {
		if d <= 0 {
			p.Problem(fmt.Errorf("xoption: WithShutdownTimeout: %s is not positive", d))
		}
		p.ShutdownTimeout = &d
	}
}
