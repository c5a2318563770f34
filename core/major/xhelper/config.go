// Package xhelper is the way of a request through the engine: its context and id, the
// limit of its body, the recovery from panics, the answer to errors, and the access log.
//
// Serve does all of it in one middleware and is what the registry installs. Respond is
// for engines that need the answers alone, and RequestContext for those that need no more
// than the context and the id. A middleware that is mounted a second time does nothing.
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

// DefaultMaxBodyBytes is the largest request body where nothing else is said: 4 MiB.
const DefaultMaxBodyBytes int64 = 4 << 20

// Config says how requests are served. The zero value is ready to use.
type Config struct {
	// Base is the context of the application, asked for values that the request's own has
	// not. Its cancellation does not reach the requests, so that a stop can finish them.
	Base context.Context
	// EnableInput takes the request id from the client's X-Request-UUID where that is 1
	// to 64 characters of [A-Za-z0-9._-].
	EnableInput bool
	// ExcludeURLs are patterns of paths whose requests get no id. In a pattern, * stands
	// for any characters but a slash, ? for one of them, and ** as a whole segment for
	// any number of segments.
	ExcludeURLs []string
	// QuietURLs are patterns of paths whose successful requests are logged in debug level
	// only.
	QuietURLs []string
	// MaxBodyBytes is the largest request body; 0 is DefaultMaxBodyBytes, a negative
	// number no limit.
	MaxBodyBytes int64
	// RouteMaxBodyBytes are other limits for single routes, by their pattern as it was
	// registered.
	RouteMaxBodyBytes map[string]int64
	// MaxInflightBodyBytes is how many bytes of bodies the handlers of all requests may
	// have read; a request beyond it fails with SERVICE_OVERLOAD. 0 is
	// DefaultMaxInflightBodyBytes, a negative number no limit. A stream keeps its share
	// until it ends. Requests whose own limit is above it are not counted.
	MaxInflightBodyBytes int64
	// RequestTimeout is the time after which the context of a request ends; 0 is
	// DefaultRequestTimeout, a negative duration no limit. Streams and responses of JSON
	// lines have no limit: see MarkStream.
	RequestTimeout time.Duration
	// RouteRequestTimeout are other timeouts for single routes, by their pattern as it
	// was registered. In it, 0 and a negative duration are no limit.
	RouteRequestTimeout map[string]time.Duration
	// TrustProxies lets the access log take the client's address from gin's ClientIP. It
	// is for engines with trusted proxies; without, the address of the connection is the
	// only true one.
	TrustProxies bool
	// Debug puts overhead into envelopes and opens what xmiddle.DebugOnly guards.
	Debug bool
	// Profile is the shape of the envelope; xmiddle.UseProfile changes it for a route.
	Profile xbase.Profile
	// Log takes the access log and the panics. It is the logger HTTP where nil.
	Log *xlog.LogNamedLogger
}

// Check returns everything that is wrong with the configuration.
func (c Config) Check() error {
	var problems []error
	check := func(field string, paths iter.Seq[string]) {
		for path := range paths {
			if !strings.HasPrefix(path, "/") {
				problems = append(problems,
					fmt.Errorf(
						"xhelper: %s: %q does not begin with a slash (accepted: paths such as /healthz)", field, path))
			}
		}
	}
	check("ExcludeURLs or CONTEXT_EXCLUDE_URLS", slices.Values(c.ExcludeURLs))
	check("QuietURLs", slices.Values(c.QuietURLs))
	check("RouteMaxBodyBytes", maps.Keys(c.RouteMaxBodyBytes))
	check("RouteRequestTimeout", maps.Keys(c.RouteRequestTimeout))
	if c.Profile > xbase.ProfileJavaStrict {
		problems = append(problems, fmt.Errorf("xhelper: Profile: %s is none", c.Profile))
	}
	return errors.Join(problems...)
}

// Serve returns the whole way of a request as one middleware. It panics where Check finds
// a fault.
//
// A panic is answered with SERVER_INTERNAL_ERROR, and its stack is logged, once. When the
// response has been started nothing is appended to it: the connection is aborted, so that
// the client notices. http.ErrAbortHandler goes through.
//
// A body over the limit is answered with PAYLOAD_TOO_LARGE: without running the last
// handler of the route if the client declares the length, else when a handler has read
// that much. Middleware runs and sees the status.
func Serve(c Config) gin.HandlerFunc { return mount(c, everything) }

// Respond answers for handlers that have not: with the last error in c.Errors, or with
// the envelope of the status that was set. It also gives the request its context and its
// id. See xmiddle.ResponseMiddleware, which is this with the zero Config.
func Respond(c Config) gin.HandlerFunc { return mount(c, contextAndAnswers) }

// RequestContext gives the request its context and its id, and nothing else.
func RequestContext(c Config) gin.HandlerFunc { return mount(c, contextOnly) }

func mount(c Config, does extent) gin.HandlerFunc {
	if err := c.Check(); err != nil {
		panic(err)
	}
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, DefaultMaxBodyBytes)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	if c.Log == nil {
		c.Log = xlog.WithName(xlog.NamedHTTP)
	}
	s := &server{
		Config: c, does: does, exclude: compile(c.ExcludeURLs),
		quiet: compile(c.QuietURLs),
	}
	s.bodies.max = cmp.Or(c.MaxInflightBodyBytes, DefaultMaxInflightBodyBytes)
	return s.serve
}

// extent is how much a middleware does for a request.
type extent uint8

const (
	contextOnly extent = iota
	contextAndAnswers
	everything
)

// server is a Config made ready.
type server struct {
	Config
	does    extent
	exclude *patterns
	quiet   *patterns
	bodies  bodyBudget
}
