// Package xhttp provides names of HTTP headers and functions that parse request headers.
//
// The functions do not log, because their results are often secrets.
package xhttp

import "net/http"

// Header is the canonical name of an HTTP header field.
type Header string

// Names of common headers, as net/http uses them as map keys. RequestUUID is equivalent
// to X-Request-UUID, because header names are case-insensitive.
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

// Set replaces all values of the header with value.
func (h Header) Set(to http.Header, value string) { to.Set(string(h), value) }
