// Package xhttp holds the names of HTTP headers and small readers of a request.
//
// Nothing here logs: what the readers return is often a secret.
package xhttp

import "net/http"

// Header is the name of an HTTP header field, in its canonical spelling.
//
// It is a type of its own so that a header's name cannot be mistaken for its value.
type Header string

// The headers that services read and write. HTTP compares names without case: RequestUUID
// is what contracts spell X-Request-UUID, in the form that net/http keeps as a map key.
const (
	Accept                      Header = "Accept"
	AcceptLanguage              Header = "Accept-Language"
	AccessControlAllowCreds     Header = "Access-Control-Allow-Credentials"
	AccessControlAllowHeaders   Header = "Access-Control-Allow-Headers"
	AccessControlAllowMethods   Header = "Access-Control-Allow-Methods"
	AccessControlAllowOrigin    Header = "Access-Control-Allow-Origin"
	AccessControlExposeHeaders  Header = "Access-Control-Expose-Headers"
	AccessControlMaxAge         Header = "Access-Control-Max-Age"
	AccessControlRequestHeaders Header = "Access-Control-Request-Headers"
	AccessControlRequestMethod  Header = "Access-Control-Request-Method"
	Allow                       Header = "Allow"
	Authorization               Header = "Authorization"
	CacheControl                Header = "Cache-Control"
	ContentDisposition          Header = "Content-Disposition"
	ContentEncoding             Header = "Content-Encoding"
	ContentLength               Header = "Content-Length"
	ContentType                 Header = "Content-Type"
	ETag                        Header = "Etag"
	LastModified                Header = "Last-Modified"
	Origin                      Header = "Origin"
	Referer                     Header = "Referer"
	RefreshToken                Header = "X-Refresh-Token"
	RequestUUID                 Header = "X-Request-Uuid"
	RetryAfter                  Header = "Retry-After"
	UserAgent                   Header = "User-Agent"
	Vary                        Header = "Vary"
	XContentTypeOptions         Header = "X-Content-Type-Options"
	XForwardedFor               Header = "X-Forwarded-For"
)

// String returns the header's name.
func (h Header) String() string { return string(h) }

// Get returns the first value of the header, or "".
func (h Header) Get(from http.Header) string { return from.Get(string(h)) }

// Set replaces the header's values by one.
func (h Header) Set(to http.Header, value string) { to.Set(string(h), value) }
