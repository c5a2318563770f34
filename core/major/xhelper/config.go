// Package xhelper implements the request pipeline of the engine: request context, request
// ID, body limit, panic recovery, error responses and access log.
//
// Serve combines all of them in one middleware, which package xreg installs. Respond only
// writes missing responses, and RequestContext only sets the context and the request ID.
// A middleware that is mounted twice has no effect the second time.
package xhelper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xlog"
)

// DefaultMaxBodyBytes is the default of Config.MaxBodyBytes: 4 MiB.
const DefaultMaxBodyBytes int64 = 4 << 20

// Config configures the middleware. The zero value is ready to use.
type Config struct {
	// Base is the context of the application. It supplies values that the request's
	// context does not contain. Its cancellation does not reach requests, so a shutdown
	// can drain them.
	Base context.Context
	// EnableInput accepts the client's X-Request-UUID header as the request ID, if its
	// value consists of 1 to 64 characters of [A-Za-z0-9._-].
	EnableInput bool
	// ExcludeURLs are patterns of paths whose requests have no request ID. In a pattern,
	// * matches any characters except a slash, ? matches one such character, and ** as a
	// whole segment matches any number of segments.
	ExcludeURLs []string
	// QuietURLs are patterns of paths whose successful requests are logged only if debug
	// logging is enabled.
	QuietURLs []string
	// MaxBodyBytes is the maximum size of a request body. 0 means DefaultMaxBodyBytes, a
	// negative number no limit.
	MaxBodyBytes int64
	// RouteMaxBodyBytes overrides MaxBodyBytes for single routes. Keys are the registered
	// patterns.
	RouteMaxBodyBytes map[string]int64
	// MaxInflightBodyBytes is the maximum number of body bytes that the handlers of all
	// in-flight requests may have read. A request above it fails with SERVICE_OVERLOAD. 0
	// means DefaultMaxInflightBodyBytes, a negative number no limit. The bytes of a
	// stream count until its handler returns. Requests whose own limit exceeds this limit
	// and those of MarkTransfer are not counted.
	MaxInflightBodyBytes int64
	// RequestTimeout is the deadline of a request's context. 0 means
	// DefaultRequestTimeout, a negative duration no limit. Streams, responses of JSON
	// lines and transfers have no limit: see MarkStream and MarkTransfer.
	RequestTimeout time.Duration
	// RouteRequestTimeout overrides RequestTimeout for single routes. Keys are the
	// registered patterns. 0 or a negative duration means no limit.
	RouteRequestTimeout map[string]time.Duration
	// TrustProxies makes the access log use gin's ClientIP. Enable it only for an engine
	// with trusted proxies. Otherwise the access log contains the address of the
	// connection.
	TrustProxies bool
	// Debug adds the handling time to envelopes and enables routes with
	// xmiddle.DebugOnly.
	Debug bool
	// Profile is the format of the envelope. xmiddle.UseProfile overrides it for a route.
	Profile xbase.Profile
	// Log receives the access log and panics. Nil means the logger named HTTP.
	Log *xlog.LogNamedLogger
}

// Check returns all errors of the configuration, joined.
func (c Config) Check() error {
	var problems []error
	check := func(field string, paths iter.Seq[string]) {
		for path := range paths {
			if !strings.HasPrefix(path, "/") {
				problems = append(problems,
					fmt.Errorf("xhelper: %s: %q does not start with a slash "+
						"(accepted: paths such as /healthz)", field, path))
			}
		}
	}
	check("ExcludeURLs or CONTEXT_EXCLUDE_URLS", slices.Values(c.ExcludeURLs))
	check("QuietURLs", slices.Values(c.QuietURLs))
	check("RouteMaxBodyBytes", maps.Keys(c.RouteMaxBodyBytes))
	check("RouteRequestTimeout", maps.Keys(c.RouteRequestTimeout))
	if c.Profile > xbase.ProfileJavaStrict {
		problems = append(problems, fmt.Errorf("xhelper: Profile: %s is not a profile", c.Profile))
	}
	return errors.Join(problems...)
}

// Serve returns the complete request pipeline as one middleware. It panics if c.Check
// returns an error.
//
// If a handler panics, the response is SERVER_INTERNAL_ERROR, and the stack is logged
// once. If the response has already started, Serve aborts the connection instead, so that
// the client detects the error. Serve does not recover http.ErrAbortHandler.
//
// A body over the limit results in PAYLOAD_TOO_LARGE. If the client declares the length,
// the last handler of the route does not run. Otherwise reading the body fails at the
// limit. Middleware runs in both cases and sees the status.
func Serve(c Config) gin.HandlerFunc { return mount(c, allFeatures) }

// Respond returns middleware that writes a missing response: the last error in c.Errors,
// or the envelope of the status that was set. It also sets the request context and the
// request ID. xmiddle.ResponseMiddleware is Respond with the zero Config.
func Respond(c Config) gin.HandlerFunc { return mount(c, contextAndResponse) }

// RequestContext returns middleware that only sets the request context and the request
// ID.
func RequestContext(c Config) gin.HandlerFunc { return mount(c, contextOnly) }

func mount(c Config, features scope) gin.HandlerFunc {
	if err := c.Check(); err != nil {
		panic(err)
	}
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, DefaultMaxBodyBytes)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	if c.Log == nil {
		c.Log = xlog.WithName(xlog.NamedHTTP)
	}
	s := &server{
		Config: c, scope: features, exclude: compile(c.ExcludeURLs),
		quiet: compile(c.QuietURLs),
	}
	s.bodies.max = cmp.Or(c.MaxInflightBodyBytes, DefaultMaxInflightBodyBytes)
	return s.serve
}

type scope uint8

const (
	contextOnly scope = iota
	contextAndResponse
	allFeatures
)

type server struct {
	Config
	scope   scope
	exclude *patterns
	quiet   *patterns
	bodies  bodyBudget
}
