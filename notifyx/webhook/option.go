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
	timeout       time.Duration
	maxPayload    int
	maxResponse   int
	maxHeader     int
	maxRetryAfter time.Duration
	http          bool
	ports         []uint16
	allowed       []netip.Prefix
	resolver      *net.Resolver
	roots         *x509.CertPool
	userAgent     string
	breaker       *Breaker
	log           *xlog.LogNamedLogger
	now           func() time.Time
}

func defaults() config {
	return config{
		timeout:       20 * time.Second,
		maxPayload:    256 << 10,
		maxResponse:   64 << 10,
		maxHeader:     64 << 10,
		maxRetryAfter: 24 * time.Hour,
		userAgent:     "Plinth-Webhook/1",
		breaker:       &Breaker{Failures: 5, Ratio: 0.5, MinRequests: 20, Window: time.Minute, OpenFor: time.Minute, MaxEndpoints: 10_000},
		log:           xlog.WithName(xlog.NamedNOTI),
		now:           time.Now,
	}
}

const (
	minRetryAfter = time.Second
	warnPayload   = 20 << 10 // bytes; the specification asks for less
	minLimit      = 1 << 10  // bytes
)

// WithTimeout bounds one attempt, from the look-up of the name to the last byte of the answer; 20 s by default, which is
// what the specification asks for.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithMaxPayload bounds the request's body; 256 KiB by default. From 20 KB on a warning says that it is large.
func WithMaxPayload(bytes int) Option { return func(c *config) { c.maxPayload = bytes } }

// WithMaxResponse bounds the body of the answer; 64 KiB by default. A longer one is not read to its end.
func WithMaxResponse(bytes int) Option { return func(c *config) { c.maxResponse = bytes } }

// WithMaxResponseHeader bounds the header of the answer, interim answers included; 64 KiB by default.
func WithMaxResponseHeader(bytes int) Option { return func(c *config) { c.maxHeader = bytes } }

// WithMaxRetryAfter bounds what a receiver may ask for with Retry-After; 24 h by default. At least 1 s is kept.
func WithMaxRetryAfter(d time.Duration) Option { return func(c *config) { c.maxRetryAfter = d } }

// WithHTTP allows URLs without TLS beside https.
func WithHTTP() Option { return func(c *config) { c.http = true } }

// WithPorts allows these ports only; by default any.
func WithPorts(ports ...uint16) Option {
	return func(c *config) { c.ports = append(c.ports, ports...) }
}

// WithAllowedNetworks allows addresses that are not public, such as those of a company's own network.
func WithAllowedNetworks(networks ...netip.Prefix) Option {
	return func(c *config) { c.allowed = append(c.allowed, networks...) }
}

// WithAllowLoopback allows 127.0.0.0/8 and ::1, for development and tests.
func WithAllowLoopback() Option { return WithAllowedNetworks(loopback...) }

// WithResolver looks up names with r instead of net.DefaultResolver.
func WithResolver(r *net.Resolver) Option { return func(c *config) { c.resolver = r } }

// WithRootCAs trusts these certificate authorities instead of the system's. There is no option that trusts all.
func WithRootCAs(pool *x509.CertPool) Option { return func(c *config) { c.roots = pool } }

// WithUserAgent replaces the User-Agent header.
func WithUserAgent(name string) Option { return func(c *config) { c.userAgent = name } }

// WithBreaker replaces the limits of the circuit breakers. What is 0 keeps its default.
func WithBreaker(b Breaker) Option {
	return func(c *config) {
		b = b.or(*defaults().breaker)
		c.breaker = &b
	}
}

// WithoutBreaker sends to each receiver however often it has failed.
func WithoutBreaker() Option { return func(c *config) { c.breaker = nil } }

// WithLogger writes to log instead of the log named NOTI.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		if log != nil {
			c.log = log
		}
	}
}

// WithClock takes the time of signatures and of Retry-After dates from now, for tests.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

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
	refuse(c.maxResponse < 0, "a response of %d bytes", c.maxResponse)
	refuse(c.maxHeader < minLimit, "a response header of %d bytes (accepted: %d or more)", c.maxHeader, minLimit)
	refuse(c.maxRetryAfter < minRetryAfter, "a Retry-After of at most %s (accepted: %s or more)", c.maxRetryAfter, minRetryAfter)
	refuse(slices.Contains(c.ports, 0), "port 0")
	refuse(slices.ContainsFunc(c.allowed, func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is4In6() }),
		"an allowed network that is none, or IPv4 written as IPv6")
	refuse(!validValue(c.userAgent) || c.userAgent == "", "the user agent is no header value")
	refuse(c.now == nil, "a clock that is nil")
	if c.breaker != nil {
		all = append(all, c.breaker.check())
	}
	return errors.Join(all...)
}
