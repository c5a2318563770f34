package xmiddle

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/http/httpguts"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

// anything stands in a policy for everything of its kind.
const anything = "*"

// CORSConfig is a policy for requests from other origins (the Fetch standard, section
// 3.3).
//
// A response from a private network to a public site is not part of it: such preflights
// fail.
type CORSConfig struct {
	// AllowOrigins are the origins that may read responses: exact ones, such as
	// "https://app.example.com"; all subdomains of a domain, as "https://*.example.com";
	// or "*" alone.
	AllowOrigins []string
	// AllowOriginFunc may allow further origins.
	AllowOriginFunc func(origin string) bool
	// AllowMethods are the methods that may be used; GET, HEAD, POST, PUT, PATCH and
	// DELETE where empty, and every method of the path with "*". A preflight lists those
	// that the path has, where that is known.
	AllowMethods []string
	// AllowHeaders are the request headers that may be sent beside the safe ones;
	// Accept-Language, Authorization, Content-Type and X-Request-UUID where empty, and
	// whatever is asked for with "*".
	AllowHeaders []string
	// ExposeHeaders are the response headers that scripts may read; X-Request-UUID where
	// nil.
	ExposeHeaders []string
	// AllowCredentials lets the browser send cookies, and scripts read the responses. It
	// cannot be combined with the origin "*", nor with "*" in ExposeHeaders.
	AllowCredentials bool
	// MaxAge is how long a browser may keep the answer to a preflight, in whole seconds:
	// 0 leaves it to the browser, a negative value forbids it.
	MaxAge time.Duration
}

// CORS returns the middleware of a policy. The error names everything that is wrong with
// it.
//
// It belongs to the engine, not to a group: gin runs a group's middleware for its routes
// only, and no route takes a preflight.
func CORS(config CORSConfig) (gin.HandlerFunc, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if len(config.AllowMethods) == 0 {
		config.AllowMethods = defaultMethods
	}
	if len(config.AllowHeaders) == 0 {
		config.AllowHeaders = defaultHeaders
	}
	if config.ExposeHeaders == nil {
		config.ExposeHeaders = []string{requestUUID}
	}
	return config.serve, nil
}

// MustCORS is CORS, and panics where that returns an error.
func MustCORS(config CORSConfig) gin.HandlerFunc {
	handler, err := CORS(config)
	if err != nil {
		panic(err)
	}
	return handler
}

var releaseAll = MustCORS(CORSConfig{
	AllowOrigins: []string{anything}, AllowMethods: []string{anything},
	AllowHeaders: []string{anything},
})

// ReleaseAllCors lets scripts of every origin call everything, without credentials: for
// public interfaces that authenticate by a header, or not at all.
func ReleaseAllCors(c *gin.Context) { releaseAll(c) }

// requestUUID is how clients know the header of the request id.
const requestUUID = "X-Request-UUID"

var (
	defaultMethods = []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete,
	}
	defaultHeaders = []string{"Accept-Language", "Authorization", "Content-Type", requestUUID}
)

// serve is the middleware.
func (config CORSConfig) serve(c *gin.Context) {
	h := c.Writer.Header()
	preflight := c.Request.Method == http.MethodOptions
	if !config.anyOrigin() {
		// of every answer, or a cache would mix them up
		h.Add(string(xhttp.Vary), string(xhttp.Origin))
	}
	if preflight {
		h.Add(string(xhttp.Vary), string(xhttp.AccessControlRequestMethod))
		h.Add(string(xhttp.Vary), string(xhttp.AccessControlRequestHeaders))
	}
	origins := c.Request.Header[string(xhttp.Origin)]
	if len(origins) == 0 {
		return
	}
	allowed := len(origins) == 1 && config.allows(origins[0])
	if allowed {
		config.allowOrigin(h, origins[0])
	}
	requested := xhttp.AccessControlRequestMethod.Get(c.Request.Header)
	switch {
	case preflight && requested != "":
		if allowed {
			config.preflight(c, requested)
		}
		c.AbortWithStatus(http.StatusNoContent)
	case allowed:
		setList(h, xhttp.AccessControlExposeHeaders, config.ExposeHeaders)
	}
}

func (config CORSConfig) anyOrigin() bool { return slices.Contains(config.AllowOrigins, anything) }

// allows reports whether the policy allows an origin.
func (config CORSConfig) allows(origin string) bool {
	return slices.ContainsFunc(config.AllowOrigins,
		func(pattern string) bool { return matches(pattern, origin) }) ||
		config.AllowOriginFunc != nil && config.AllowOriginFunc(origin)
}

// matches reports whether an origin is the one of a pattern, or has a host name in place
// of its *.
func matches(pattern, origin string) bool {
	scheme, domain, wildcard := strings.Cut(pattern, anything)
	if !wildcard || pattern == anything {
		return wildcard || pattern == origin
	}
	rest, hasScheme := strings.CutPrefix(origin, scheme)
	label, hasDomain := strings.CutSuffix(rest, domain)
	return hasScheme && hasDomain && isHost(label)
}

func (config CORSConfig) allowOrigin(h http.Header, origin string) {
	if config.anyOrigin() {
		origin = anything
	}
	xhttp.AccessControlAllowOrigin.Set(h, origin)
	if config.AllowCredentials {
		xhttp.AccessControlAllowCreds.Set(h, "true")
	}
}

// setList sets a header to a list, unless that is empty.
func setList(h http.Header, name xhttp.Header, list []string) {
	if len(list) > 0 {
		name.Set(h, strings.Join(list, ", "))
	}
}

// preflight says what the actual request may be. The browser compares; what is not
// allowed is simply not listed.
func (config CORSConfig) preflight(c *gin.Context, requested string) {
	h := c.Writer.Header()
	setList(h, xhttp.AccessControlAllowMethods, config.methodsOf(c, requested))
	setList(h, xhttp.AccessControlAllowHeaders, config.headersFor(c))
	if config.MaxAge != 0 {
		xhttp.AccessControlMaxAge.Set(h,
			strconv.FormatInt(max(0, int64(config.MaxAge/time.Second)), 10))
	}
}

// methodsOf returns the methods that the policy and the path have in common, as far as
// those of the path are known.
func (config CORSConfig) methodsOf(c *gin.Context, requested string) []string {
	every, route := slices.Contains(config.AllowMethods, anything), routeMethods(c)
	switch {
	case every && len(route) > 0:
		return route
	case every && httpguts.ValidHeaderFieldName(requested): // methods and names are tokens alike
		return []string{requested}
	case every:
		return nil
	case len(route) == 0:
		return config.AllowMethods
	default:
		return slices.DeleteFunc(slices.Clone(config.AllowMethods),
			func(m string) bool { return !slices.Contains(route, m) })
	}
}

// headersFor returns the headers that may be sent. A "*" would neither cover
// Authorization nor work with credentials, so the names that are asked for are given
// back, where they are names.
func (config CORSConfig) headersFor(c *gin.Context) []string {
	if !slices.Contains(config.AllowHeaders, anything) {
		return config.AllowHeaders
	}
	requested := c.Request.Header[string(xhttp.AccessControlRequestHeaders)]
	for name := range strings.SplitSeq(strings.Join(requested, ","), ",") {
		if !httpguts.ValidHeaderFieldName(strings.Trim(name, " \t")) {
			return nil
		}
	}
	return requested
}
