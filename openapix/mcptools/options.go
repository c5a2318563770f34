package mcptools

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/openapix"
)

// Option configures Serve. Nil options are skipped.
type Option func(*config)

type config struct {
	path        string
	document    []openapix.Option
	operations  []string
	tags        []string
	reads       bool
	headers     []string // forwarded
	origins     []string
	hosts       map[string]bool // of the origins
	maxResponse int
	middleware  []gin.HandlerFunc
	err         error // errors of the options
}

const defaultMaxResponse = 1 << 20

func newConfig(opts []Option) *config {
	c := &config{
		path: "/mcp", maxResponse: defaultMaxResponse, hosts: map[string]bool{},
		headers: []string{string(xhttp.Authorization), string(xhttp.AcceptLanguage)},
	}
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	return c
}

func (c *config) fail(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf("mcptools: "+format, args...))
}

// WithOperations offers the operations with these IDs.
func WithOperations(ids ...string) Option {
	return func(c *config) { c.operations = append(c.operations, ids...) }
}

// WithTags offers the operations with at least one of these tags. Operations that cannot
// be tools, such as downloads, are skipped.
func WithTags(tags ...string) Option {
	return func(c *config) { c.tags = append(c.tags, tags...) }
}

// WithReads offers all operations with the method GET. Operations that cannot be tools,
// such as downloads, are skipped.
func WithReads() Option { return func(c *config) { c.reads = true } }

// WithDocument sets the options of the OpenAPI document from which the tools are
// generated. Pass the same options as to openapix.Serve. The title and the version of the
// document are the name and the version of the server. The description of the document is
// sent to clients as the instructions for the model.
func WithDocument(opts ...openapix.Option) Option {
	return func(c *config) { c.document = append(c.document, opts...) }
}

// WithPath sets the path of the endpoint. The default is /mcp.
func WithPath(route string) Option {
	return func(c *config) {
		if !path.IsAbs(route) || strings.ContainsAny(route, ":*") {
			c.fail("WithPath: %q is not a plain absolute path", route)
			return
		}
		c.path = route
	}
}

// WithHeaders forwards headers of the client to the operations, in addition to
// Authorization and Accept-Language. A forwarded header is not an argument of a tool.
// Cookies are never forwarded.
func WithHeaders(names ...string) Option {
	return func(c *config) {
		for _, name := range names {
			name = http.CanonicalHeaderKey(name)
			if name == "Cookie" {
				c.fail("WithHeaders: cookies are not forwarded: use the header Authorization")
			}
			c.headers = append(c.headers, name)
		}
	}
}

// WithOrigins allows scripts of other origins, such as https://app.example.com, to call
// the endpoint, in addition to the origin of the service itself. The responses have CORS
// headers only if the application uses xmiddle.CORS.
//
// It is also required for a proxy on the same machine that preserves the Host header:
// without the public origin, a request that arrives at a loopback address must have a
// loopback host. This protects services of developers against DNS rebinding.
func WithOrigins(origins ...string) Option {
	return func(c *config) {
		for _, origin := range origins {
			if u, err := url.Parse(origin); err == nil {
				c.hosts[u.Host] = true
			}
		}
		c.origins = append(c.origins, origins...)
	}
}

// WithMaxResponse sets the maximum size of a response of an operation in bytes. The
// default is 1 MiB. The result of a call with a larger response is an error.
func WithMaxResponse(size int) Option {
	return func(c *config) {
		if size <= 0 {
			c.fail("WithMaxResponse: %d is not positive", size)
		}
		c.maxResponse = size
	}
}

// WithMiddleware adds middleware of the endpoint, for example an authentication. Without
// it, any client that passes the middleware of the engine can list the tools. The
// middleware of an operation applies to each call in any case.
func WithMiddleware(middleware ...gin.HandlerFunc) Option {
	return func(c *config) { c.middleware = append(c.middleware, middleware...) }
}
