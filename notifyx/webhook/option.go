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

// Option changes a Client.
type Option func(*config)

type config struct {
	timeout    time.Duration
	maxPayload int
	http       bool
	ports      []uint16
	allowed    []netip.Prefix
	resolver   *net.Resolver // nil is net.DefaultResolver
	roots      *x509.CertPool
	breaker    *breaker // nil: no circuits
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
	// maxResponse bounds the body of an answer, and its header with interim answers, in
	// bytes.
	maxResponse = 64 << 10
	// minRetryAfter and maxRetryAfter bound what a receiver may ask for with Retry-After.
	minRetryAfter, maxRetryAfter = time.Second, 24 * time.Hour
)

// WithTimeout bounds one attempt, from the look-up of the name to the last byte of the
// answer; 20 s by default, which is what the specification asks for.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithMaxPayload bounds the request's body; 256 KiB by default. Receivers like less than
// 20 KB.
func WithMaxPayload(bytes int) Option { return func(c *config) { c.maxPayload = bytes } }

// WithHTTP allows URLs without TLS beside https.
func WithHTTP() Option { return func(c *config) { c.http = true } }

// WithPorts allows these ports only; by default any.
func WithPorts(ports ...uint16) Option {
	return func(c *config) { c.ports = append(c.ports, ports...) }
}

// WithAllowedNetworks allows addresses that are not public, such as those of a company's
// own network.
func WithAllowedNetworks(networks ...netip.Prefix) Option {
	return func(c *config) { c.allowed = append(c.allowed, networks...) }
}

// WithAllowLoopback allows 127.0.0.0/8 and ::1, for development and tests.
func WithAllowLoopback() Option { return WithAllowedNetworks(loopback...) }

// WithRootCAs trusts these certificate authorities instead of the system's. There is no
// option that trusts all.
func WithRootCAs(pool *x509.CertPool) Option { return func(c *config) { c.roots = pool } }

// WithoutBreaker sends to each receiver however often it has failed.
func WithoutBreaker() Option { return func(c *config) { c.breaker = nil } }

func (c *config) schemes() string {
	if c.http {
		return "http or https"
	}
	return "https"
}

// check reports everything that is wrong.
func (c *config) check() error {
	var all []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			all = append(all, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
		}
	}
	refuse(c.timeout <= 0, "the timeout %s is not positive", c.timeout)
	refuse(c.maxPayload <= 0, "a payload of %d bytes", c.maxPayload)
	refuse(slices.Contains(c.ports, 0), "port 0")
	refuse(slices.ContainsFunc(c.allowed,
		func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is4In6() }),
		"an allowed network that is none, or IPv4 written as IPv6")
	return errors.Join(all...)
}
