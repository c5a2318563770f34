package guard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Validate returns all errors of c at once.
func (c Config) Validate() error {
	var problems []error
	for _, s := range c.Origins {
		if _, ok := parseOrigin(s); !ok {
			problems = append(problems,
				fmt.Errorf("origin %q: want scheme://host or scheme://host:port", s))
		}
	}
	return errors.Join(problems...)
}

// An origin is an origin of RFC 6454, in lower case and without the default port.
type origin struct{ Scheme, Host string }

// String returns the origin in the format of the Origin header.
func (o origin) String() string { return o.Scheme + "://" + o.Host }

// parseOrigin parses an origin. It rejects "null", which browsers send for opaque
// origins.
func parseOrigin(s string) (origin, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" ||
		!strings.EqualFold(s, u.Scheme+"://"+u.Host) || strings.HasSuffix(u.Host, ":") ||
		strings.Contains(u.Host, "*") {
		return origin{}, false
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" &&
		(err != nil || port == 0) {
		return origin{}, false
	}
	return origin{Scheme: u.Scheme, Host: withoutDefaultPort(u.Host, u.Scheme)}, true
}

func (o origin) isWeb() bool { return o.Scheme == "http" || o.Scheme == "https" }

func withoutDefaultPort(host, scheme string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}

// admit checks Origin and Host, and sets the CORS headers for an allowed origin.
func (g *guard) admit(out http.Header, r *http.Request) *rejection {
	out.Add("Vary", "Origin")
	values := r.Header.Values("Origin")
	if len(values) > 0 {
		o, ok := parseOrigin(values[0])
		if !ok || len(values) > 1 || !g.allowed(o, r) {
			return reject(http.StatusForbidden, jsonrpc.CodeInvalidRequest, "origin not allowed")
		}
	}
	if arrivedOnLoopback(r) && !isLoopback(r.Host) && !g.isConfigured(r.Host) {
		return reject(http.StatusForbidden, jsonrpc.CodeInvalidRequest,
			"host not allowed: at a loopback address the Host header must be a loopback name")
	}
	if len(values) > 0 {
		out.Set("Access-Control-Allow-Origin", values[0])
		out.Set("Access-Control-Expose-Headers", "MCP-Protocol-Version, "+requestIDHeader)
	}
	return nil
}

func (g *guard) allowed(o origin, r *http.Request) bool {
	return g.origins[o.String()] || isOwn(o, r) || o.isWeb() && isLoopback(o.Host) &&
		isLoopback(r.Host) && !arrivedElsewhere(r)
}

// isConfigured reports whether a Host header is the host of a configured origin.
func (g *guard) isConfigured(host string) bool {
	return g.hosts[withoutDefaultPort(host, "http")] || g.hosts[withoutDefaultPort(host, "https")]
}

// isOwn reports whether a page of this server sent the request. TLS may be terminated by
// a proxy, so http matches https, except for a page without TLS and a server with TLS.
func isOwn(o origin, r *http.Request) bool {
	if !o.isWeb() || o.Scheme == "http" && r.TLS != nil {
		return false
	}
	return o.Host == withoutDefaultPort(r.Host, o.Scheme)
}

// arrivedOnLoopback reports whether the request is known to have arrived at a loopback
// address.
func arrivedOnLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && isLoopback(addr.String())
}

// arrivedElsewhere reports whether the request is known to have arrived at another
// address.
func arrivedElsewhere(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && !isLoopback(addr.String())
}

// isLoopback reports whether a host, with or without a port, is localhost or a loopback
// address.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

const (
	allow        = "POST, OPTIONS"
	allowHeaders = "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, " +
		requestIDHeader
	maxAge = "7200" // seconds, the maximum of browsers
)

// preflight responds to OPTIONS, which is a CORS preflight if the request has an Origin.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Allow", allow)
	if r.Header.Get("Origin") != "" {
		h.Del("Access-Control-Expose-Headers")
		h.Set("Access-Control-Allow-Methods", http.MethodPost)
		h.Set("Access-Control-Allow-Headers", allowHeaders)
		h.Set("Access-Control-Max-Age", maxAge)
	}
	w.WriteHeader(http.StatusNoContent)
}
