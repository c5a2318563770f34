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
	anyOrigin   bool
	exact       map[string]struct{}
	subdomains  []subdomain
	origin      func(string) bool
	anyMethod   bool
	methods     []string
	anyHeader   bool
	headers     string
	expose      string
	credentials bool
	maxAge      string
}

// subdomain matches the origins between a scheme and a domain, as in https://*.example.com:8443.
type subdomain struct{ scheme, domain string }

func newPolicy(config CORSConfig) *policy {
	p := &policy{
		anyOrigin: slices.Contains(config.AllowOrigins, anything), exact: map[string]struct{}{},
		origin: config.AllowOriginFunc, credentials: config.AllowCredentials,
		methods:   orDefault(config.AllowMethods, defaultMethods),
		anyMethod: slices.Contains(config.AllowMethods, anything),
		anyHeader: slices.Contains(config.AllowHeaders, anything),
		headers:   strings.Join(orDefault(config.AllowHeaders, defaultHeaders), ", "),
	}
	if config.ExposeHeaders == nil {
		config.ExposeHeaders = []string{requestUUID}
	}
	p.expose = strings.Join(config.ExposeHeaders, ", ")
	if config.MaxAge != 0 {
		p.maxAge = strconv.FormatInt(max(0, int64(config.MaxAge/time.Second)), 10)
	}
	for _, origin := range config.AllowOrigins {
		if scheme, domain, ok := strings.Cut(origin, anything); ok {
			p.subdomains = append(p.subdomains, subdomain{scheme: scheme, domain: domain})
			continue
		}
		p.exact[origin] = struct{}{}
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

func orDefault(list, otherwise []string) []string {
	if len(list) == 0 {
		return otherwise
	}
	return list
}

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
	if requested := xhttp.GetHeader(c, xhttp.AccessControlRequestMethod); c.Request.Method == http.MethodOptions && requested != "" {
		if allowed {
			p.preflight(c, requested)
		}
		c.AbortWithStatus(http.StatusNoContent)
		return
	}
	if allowed && p.expose != "" {
		xhttp.AccessControlExposeHeaders.Set(h, p.expose)
	}
}

// allows reports whether the policy allows an origin.
func (p *policy) allows(origin string) bool {
	if p.anyOrigin {
		return true
	}
	if _, ok := p.exact[origin]; ok {
		return true
	}
	for _, s := range p.subdomains {
		if s.match(origin) {
			return true
		}
	}
	return p.origin != nil && p.origin(origin)
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
	if p.credentials {
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

// methodsOf lists the methods that the policy and the path have in common.
func (p *policy) methodsOf(c *gin.Context, requested string) string {
	route := routeMethods(c)
	switch {
	case p.anyMethod && len(route) > 0:
		return strings.Join(route, ", ")
	case p.anyMethod && httpguts.ValidHeaderFieldName(requested): // methods and names are tokens alike
		return requested
	case p.anyMethod:
		return ""
	case len(route) == 0:
		return strings.Join(p.methods, ", ")
	}
	common := slices.DeleteFunc(slices.Clone(p.methods), func(m string) bool { return !slices.Contains(route, m) })
	return strings.Join(common, ", ")
}

// headersFor lists the headers that may be sent. A "*" would neither cover Authorization nor work with
// credentials, so the names that are asked for are given back, where they are names.
func (p *policy) headersFor(c *gin.Context) string {
	if !p.anyHeader {
		return p.headers
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
