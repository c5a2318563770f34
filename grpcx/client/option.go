package client

import (
	"crypto/tls"
	"time"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Option configures Dial. Options are applied in order, so later options override earlier
// ones.
type Option func(*config)

const defaultTimeout = 30 * time.Second

// defaultRetry makes four attempts within about one second.
var defaultRetry = retryPolicy{
	attempts:       4,
	initialBackoff: 100 * time.Millisecond,
	maxBackoff:     time.Second,
}

type config struct {
	source           *string // nil: APP_NAME
	timeout          time.Duration
	application      *identity // nil: not sent
	plaintextSecrets bool

	tls       *tls.Config
	tlsSet    bool // WithTLS was used
	plaintext bool

	retry      *retryPolicy // nil: disabled
	idempotent []string
	balancing  *string // nil: grpc's default

	dial []grpc.DialOption
}

// identity contains the arguments of WithApplication.
type identity struct {
	accessID string
	secret   xlog.Secret
}

func newConfig() *config {
	retry := defaultRetry
	return &config{timeout: defaultTimeout, retry: &retry}
}

// setDefaults sets defaults that depend on the environment.
func (c *config) setDefaults() {
	if c.source == nil {
		// The default of APP_NAME is not used, because it is not the name of a service.
		name := xenv.GetEnvString(xenv.AppName, "")
		c.source = &name
	}
}

// WithSource sets the name of the calling service, sent as x_request_source and as the
// user agent. The default is the variable APP_NAME. "" sends no name.
func WithSource(name string) Option { return func(c *config) { c.source = &name } }

// WithTimeout limits unary calls whose context has no deadline, including retries. 0
// disables the timeout. The default is 30 s. Streams have no timeout.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithApplication sends app_access_id and app_secret_key with each call.
//
// They are sent over TLS only, unless WithPlaintextSecrets is set. If the outgoing
// metadata of a call contains either key, the connection adds neither. The secret never
// appears in errors or logs.
func WithApplication(accessID, secretKey string) Option {
	return func(c *config) {
		c.application = &identity{accessID: accessID, secret: xlog.Secret(secretKey)}
	}
}

// WithPlaintextSecrets allows WithApplication to send the secret over unencrypted
// connections, for development and for encrypted networks.
func WithPlaintextSecrets() Option { return func(c *config) { c.plaintextSecrets = true } }

// WithTLS sets the TLS configuration, for example a private certificate authority or a
// client certificate. The default is TLS with the system's roots.
func WithTLS(settings *tls.Config) Option {
	return func(c *config) { c.tls, c.tlsSet = settings, true }
}

// WithPlaintext connects without TLS. Use it in trusted networks only.
func WithPlaintext() Option { return func(c *config) { c.plaintext = true } }

// WithIdempotent marks methods as safe to retry, in addition to those with an
// idempotency_level in their proto: "/pkg.Service/Method" is one method, "pkg.Service"
// all methods of a service. Repeated use adds to the list. Dial fails if the program's
// generated code does not contain the service or the method.
func WithIdempotent(names ...string) Option {
	return func(c *config) { c.idempotent = append(c.idempotent, names...) }
}

// WithRetry configures retries of idempotent methods: the maximum number of attempts,
// including the first, and the backoff with jitter, which starts at initialBackoff and
// doubles up to maxBackoff. The defaults are 4, 100 ms and 1 s.
func WithRetry(attempts int, initialBackoff, maxBackoff time.Duration) Option {
	return func(c *config) {
		c.retry = &retryPolicy{
			attempts:       attempts,
			initialBackoff: initialBackoff,
			maxBackoff:     maxBackoff,
		}
	}
}

// WithoutRetry disables retries. gRPC still resends calls that the server has not
// processed.
func WithoutRetry() Option { return func(c *config) { c.retry = nil } }

// WithLoadBalancing sets the load balancing policy for the addresses of the target, such
// as "round_robin". The default is "pick_first".
func WithLoadBalancing(policy string) Option { return func(c *config) { c.balancing = &policy } }

// WithDialOptions adds options of grpc-go, which override the options of this package.
//
// Interceptors of grpc.WithChainUnaryInterceptor and grpc.WithChainStreamInterceptor run
// inside those of this package; grpc.WithUnaryInterceptor and grpc.WithStreamInterceptor
// run outside. grpc.WithDefaultServiceConfig replaces the configuration of retries and
// load balancing.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(c *config) { c.dial = append(c.dial, options...) }
}
