package webhook

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// Option configures a Client.
type Option func(*config)

type config struct {
	timeout    time.Duration
	maxPayload int
	http       bool
	ports      []uint16
	allowed    []netip.Prefix
	resolver   *net.Resolver // nil is net.DefaultResolver
	roots      *x509.CertPool
	breaker    *breaker // nil disables the circuit breaker
	log        *xlog.LogNamedLogger
	now        func() time.Time
}

func defaults() config {
	return config{
		timeout:    20 * time.Second,
		maxPayload: 256 << 10,
		breaker: &breaker{
			failures: 5, ratio: 0.5, minRequests: 20, window: time.Minute, openFor: time.Minute,
			maxEndpoints: 10_000,
		},
		log: xlog.WithName(xlog.NamedNOTI),
		now: time.Now,
	}
}

const (
	// maxResponse limits the body of a response, and its headers including interim
	// responses, in bytes.
	maxResponse = 64 << 10
	// minRetryAfter and maxRetryAfter limit the value of Retry-After.
	minRetryAfter, maxRetryAfter = time.Second, 24 * time.Hour
)

// WithTimeout limits one attempt, from DNS lookup to the last byte of the response. The
// default is 20 s, as the specification recommends.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithMaxPayload limits the request body in bytes. The default is 256 KiB. The
// specification recommends less than 20 KB.
func WithMaxPayload(bytes int) Option { return func(c *config) { c.maxPayload = bytes } }

// WithHTTP allows http URLs in addition to https.
func WithHTTP() Option { return func(c *config) { c.http = true } }

// WithPorts restricts the allowed ports. By default all ports are allowed.
func WithPorts(ports ...uint16) Option {
	return func(c *config) { c.ports = append(c.ports, ports...) }
}

// WithAllowedNetworks allows addresses that are not public, such as those of an internal
// network.
func WithAllowedNetworks(networks ...netip.Prefix) Option {
	return func(c *config) { c.allowed = append(c.allowed, networks...) }
}

// WithAllowLoopback allows 127.0.0.0/8 and ::1, for development and tests.
func WithAllowLoopback() Option { return WithAllowedNetworks(loopback...) }

// WithRootCAs replaces the system certificate authorities. No option disables
// verification.
func WithRootCAs(pool *x509.CertPool) Option { return func(c *config) { c.roots = pool } }

// WithoutBreaker disables the circuit breaker.
func WithoutBreaker() Option { return func(c *config) { c.breaker = nil } }

func (c *config) schemes() string {
	if c.http {
		return "http or https"
	}
	return "https"
}

// check returns all invalid settings as one error.
func (c *config) check() error {
	var all []error
	reject := func(invalid bool, format string, args ...any) {
		if invalid {
			all = append(all, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
		}
	}
	reject(c.timeout <= 0, "the timeout %s is not positive", c.timeout)
	reject(c.maxPayload <= 0, "the payload limit of %d bytes is not positive", c.maxPayload)
	reject(slices.Contains(c.ports, 0), "port 0 is invalid")
	reject(slices.ContainsFunc(c.allowed,
		func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is4In6() }),
		"an allowed network is invalid or an IPv4-mapped IPv6 prefix")
	return errors.Join(all...)
}
