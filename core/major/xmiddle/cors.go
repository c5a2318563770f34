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

const anything = "*"

// CORSConfig is a policy for cross-origin requests (Fetch standard, section 3.3).
//
// It does not allow public sites to access private networks: browsers reject the
// preflight responses.
type CORSConfig struct {
	// AllowOrigins are the origins that may read responses: exact origins such as
	// "https://app.example.com", all subdomains of a domain as in
	// "https://*.example.com", or only "*".
	AllowOrigins []string
	// AllowOriginFunc reports whether an origin is allowed that AllowOrigins does not
	// contain. It may be nil.
	AllowOriginFunc func(origin string) bool
	// AllowMethods are the allowed methods. An empty list means GET, HEAD, POST, PUT,
	// PATCH and DELETE. "*" allows every method of the path. A preflight response lists
	// only methods of the path, if these are known.
	AllowMethods []string
	// AllowHeaders are the allowed request headers, in addition to the CORS-safelisted
	// headers. An empty list means Accept-Language, Authorization, Content-Type and
	// X-Request-UUID. "*" allows every requested header.
	AllowHeaders []string
	// ExposeHeaders are the response headers that scripts may read. Nil means
	// X-Request-UUID.
	ExposeHeaders []string
	// AllowCredentials allows requests with cookies. It cannot be combined with the
	// origin "*", or with "*" in ExposeHeaders.
	AllowCredentials bool
	// MaxAge is how long browsers may cache a preflight response, in whole seconds. 0
	// uses the default of the browser, a negative value disables caching.
	MaxAge time.Duration
}

// CORS returns middleware that applies a policy. The error contains all problems of the
// policy.
//
// Use it on the engine, not on a group. gin runs the middleware of a group only for its
// routes, and a preflight request matches no route.
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

// MustCORS is like CORS but panics on an error.
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

// ReleaseAllCors allows all cross-origin requests without credentials. Use it for public
// APIs that authenticate by a header or not at all.
func ReleaseAllCors(c *gin.Context) { releaseAll(c) }

// requestUUID is the usual spelling of the request ID header.
const requestUUID = "X-Request-UUID"

var (
	defaultMethods = []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete,
	}
	defaultHeaders = []string{"Accept-Language", "Authorization", "Content-Type", requestUUID}
)

func (config CORSConfig) serve(c *gin.Context) {
	h := c.Writer.Header()
	preflight := c.Request.Method == http.MethodOptions
	if !config.anyOrigin() {
		// also without an Origin header, because caches store both responses
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

func (config CORSConfig) allows(origin string) bool {
	return slices.ContainsFunc(config.AllowOrigins,
		func(pattern string) bool { return matches(pattern, origin) }) ||
		config.AllowOriginFunc != nil && config.AllowOriginFunc(origin)
}

// matches reports whether origin matches pattern, whose * stands for a host name.
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

func setList(h http.Header, name xhttp.Header, list []string) {
	if len(list) > 0 {
		name.Set(h, strings.Join(list, ", "))
	}
}

// preflight sets the headers of a preflight response. They list the allowed methods and
// headers, which the browser compares with the request.
func (config CORSConfig) preflight(c *gin.Context, requested string) {
	h := c.Writer.Header()
	setList(h, xhttp.AccessControlAllowMethods, config.methodsOf(c, requested))
	setList(h, xhttp.AccessControlAllowHeaders, config.headersFor(c))
	if config.MaxAge != 0 {
		xhttp.AccessControlMaxAge.Set(h,
			strconv.FormatInt(max(0, int64(config.MaxAge/time.Second)), 10))
	}
}

// methodsOf returns the methods that both the policy and the path allow. If the methods
// of the path are unknown, it returns those of the policy.
func (config CORSConfig) methodsOf(c *gin.Context, requested string) []string {
	anyMethod, route := slices.Contains(config.AllowMethods, anything), routeMethods(c)
	switch {
	case anyMethod && len(route) > 0:
		return route
	// a method has the same syntax as a header name
	case anyMethod && httpguts.ValidHeaderFieldName(requested):
		return []string{requested}
	case anyMethod:
		return nil
	case len(route) == 0:
		return config.AllowMethods
	default:
		return slices.DeleteFunc(slices.Clone(config.AllowMethods),
			func(m string) bool { return !slices.Contains(route, m) })
	}
}

// headersFor returns the allowed headers. For "*" it returns the requested names if all
// are valid, because a literal "*" excludes Authorization and does not work with
// credentials.
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
