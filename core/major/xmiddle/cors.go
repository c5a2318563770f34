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

// any stands in a policy for everything of its kind.
const anything = "*"

// CORSConfig is a policy for requests from other origins (the Fetch standard, section 3.3).
//
// A response from a private network to a public site is not part of it: such preflights fail.
type CORSConfig struct {
	// AllowOrigins are the origins that may read responses: exact ones, such as
	// "https://app.example.com"; all subdomains of a domain, as "https://*.example.com"; or "*" alone.
	AllowOrigins []string
	// AllowOriginFunc may allow further origins.
	AllowOriginFunc func(origin string) bool
	// AllowMethods are the methods that may be used; GET, HEAD, POST, PUT, PATCH and DELETE where
	// empty, and every method of the path with "*". A preflight lists those that the path has, where
	// that is known.
	AllowMethods []string
	// AllowHeaders are the request headers that may be sent beside the safe ones; Accept-Language,
	// Authorization, Content-Type and X-Request-UUID where empty, and whatever is asked for with "*".
	AllowHeaders []string
	// ExposeHeaders are the response headers that scripts may read; X-Request-UUID where nil.
	ExposeHeaders []string
	// AllowCredentials lets the browser send cookies, and scripts read the responses. It cannot be
	// combined with the origin "*", nor with "*" in ExposeHeaders.
	AllowCredentials bool
	// MaxAge is how long a browser may keep the answer to a preflight, in whole seconds: 0 leaves it
	// to the browser, a negative value forbids it.
	MaxAge time.Duration
}

// CORS returns the middleware of a policy. The error names everything that is wrong with it.
//
// It belongs to the engine, not to a group: gin runs a group's middleware for its routes only, and no
// route takes a preflight.
func CORS(config CORSConfig) (gin.HandlerFunc, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return newPolicy(config).serve, nil
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
	AllowOrigins: []string{anything}, AllowMethods: []string{anything}, AllowHeaders: []string{anything},
})

// ReleaseAllCors lets scripts of every origin call everything, without credentials: for public
// interfaces that authenticate by a header, or not at all.
func ReleaseAllCors(c *gin.Context) { releaseAll(c) }

// policy is a CORSConfig made ready.
type policy struct {
	CORSConfig
	anyOrigin  bool
	subdomains []subdomain
	maxAge     string
}

// subdomain matches the origins between a scheme and a domain, as in https://*.example.com:8443.
type subdomain struct{ scheme, domain string }

func newPolicy(config CORSConfig) *policy {
	p := &policy{CORSConfig: config, anyOrigin: slices.Contains(config.AllowOrigins, anything)}
	if len(p.AllowMethods) == 0 {
		p.AllowMethods = defaultMethods
	}
	if len(p.AllowHeaders) == 0 {
		p.AllowHeaders = defaultHeaders
	}
	if p.ExposeHeaders == nil {
		p.ExposeHeaders = []string{requestUUID}
	}
	if config.MaxAge != 0 {
		p.maxAge = strconv.FormatInt(max(0, int64(config.MaxAge/time.Second)), 10)
	}
	for _, origin := range config.AllowOrigins {
		if scheme, domain, ok := strings.Cut(origin, anything); ok {
			p.subdomains = append(p.subdomains, subdomain{scheme: scheme, domain: domain})
		}
	}
	return p
}

// requestUUID is how clients know the header of the request id.
const requestUUID = "X-Request-UUID"

var (
	defaultMethods = []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
	defaultHeaders = []string{"Accept-Language", "Authorization", "Content-Type", requestUUID}
)

// serve is the middleware.
func (p *policy) serve(c *gin.Context) {
	h := c.Writer.Header()
	if !p.anyOrigin {
		h.Add(string(xhttp.Vary), string(xhttp.Origin)) // of every answer, or a cache would mix them up
	}
	if c.Request.Method == http.MethodOptions {
		h.Add(string(xhttp.Vary), string(xhttp.AccessControlRequestMethod))
		h.Add(string(xhttp.Vary), string(xhttp.AccessControlRequestHeaders))
	}
	origins := c.Request.Header[string(xhttp.Origin)]
	if len(origins) == 0 {
		return
	}
	allowed := len(origins) == 1 && p.allows(origins[0])
	if allowed {
		p.allowOrigin(h, origins[0])
	}
	if requested := xhttp.AccessControlRequestMethod.Get(c.Request.Header); c.Request.Method == http.MethodOptions && requested != "" {
		if allowed {
			p.preflight(c, requested)
		}
		c.AbortWithStatus(http.StatusNoContent)
		return
	}
	if allowed && len(p.ExposeHeaders) > 0 {
		xhttp.AccessControlExposeHeaders.Set(h, strings.Join(p.ExposeHeaders, ", "))
	}
}

// allows reports whether the policy allows an origin.
func (p *policy) allows(origin string) bool {
	return p.anyOrigin || slices.Contains(p.AllowOrigins, origin) ||
		slices.ContainsFunc(p.subdomains, func(s subdomain) bool { return s.match(origin) }) ||
		p.AllowOriginFunc != nil && p.AllowOriginFunc(origin)
}

func (s subdomain) match(origin string) bool {
	label, ok := strings.CutPrefix(origin, s.scheme)
	if !ok {
		return false
	}
	label, ok = strings.CutSuffix(label, s.domain)
	return ok && isHost(label)
}

func (p *policy) allowOrigin(h http.Header, origin string) {
	if p.anyOrigin {
		origin = anything
	}
	xhttp.AccessControlAllowOrigin.Set(h, origin)
	if p.AllowCredentials {
		xhttp.AccessControlAllowCreds.Set(h, "true")
	}
}

// preflight says what the actual request may be. The browser compares; what is not allowed is simply
// not listed.
func (p *policy) preflight(c *gin.Context, requested string) {
	h := c.Writer.Header()
	if methods := p.methodsOf(c, requested); methods != "" {
		xhttp.AccessControlAllowMethods.Set(h, methods)
	}
	if headers := p.headersFor(c); headers != "" {
		xhttp.AccessControlAllowHeaders.Set(h, headers)
	}
	if p.maxAge != "" {
		xhttp.AccessControlMaxAge.Set(h, p.maxAge)
	}
}

// methodsOf lists the methods that the policy and the path have in common, as far as those of the path are
// known.
func (p *policy) methodsOf(c *gin.Context, requested string) string {
	methods, route := p.AllowMethods, routeMethods(c)
	if slices.Contains(methods, anything) {
		methods = route
		if len(route) == 0 && httpguts.ValidHeaderFieldName(requested) { // methods and names are tokens alike
			methods = []string{requested}
		}
	}
	common := slices.DeleteFunc(slices.Clone(methods), func(m string) bool {
		return len(route) > 0 && !slices.Contains(route, m)
	})
	return strings.Join(common, ", ")
}

// headersFor lists the headers that may be sent. A "*" would neither cover Authorization nor work with
// credentials, so the names that are asked for are given back, where they are names.
func (p *policy) headersFor(c *gin.Context) string {
	if !slices.Contains(p.AllowHeaders, anything) {
		return strings.Join(p.AllowHeaders, ", ")
	}
	requested := c.Request.Header[string(xhttp.AccessControlRequestHeaders)]
	if len(requested) != 1 {
		return ""
	}
	for name := range strings.SplitSeq(requested[0], ",") {
		if !httpguts.ValidHeaderFieldName(strings.Trim(name, " \t")) {
			return ""
		}
	}
	return requested[0]
}
