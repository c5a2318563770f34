package client

import (
	"crypto/tls"
	"time"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Option changes how Dial connects. Options apply in their order, so a later one wins.
type Option func(*config)

// defaultTimeout bounds a unary call whose context has no deadline.
const defaultTimeout = 30 * time.Second

// defaultRetry makes four attempts within about a second.
var defaultRetry = retry{attempts: 4, initial: 100 * time.Millisecond, longest: time.Second}

// config is what the options say.
type config struct {
	source      *string // nil for the application's name
	timeout     time.Duration
	application *identity // nil for none
	plainSecret bool

	tls       *tls.Config
	secure    bool // WithTLS was given
	plaintext bool

	retry      *retry // nil for none
	idempotent []string
	balancing  *string // nil for grpc's own choice

	dial []grpc.DialOption
}

// identity is what WithApplication was given.
type identity struct {
	accessID string
	secret   xlog.Secret
}

func newConfig() *config {
	standard := defaultRetry
	return &config{timeout: defaultTimeout, retry: &standard}
}

// complete fills in what is known only now.
func (c *config) complete() {
	if c.source == nil {
		name := xenv.GetEnvString(xenv.AppName, "") // the table's default names nobody
		c.source = &name
	}
}

// WithSource names the caller, which is sent as x_request_source and is the user agent.
// The default is the variable APP_NAME; "" sends nothing.
func WithSource(name string) Option { return func(c *config) { c.source = &name } }

// WithTimeout bounds unary calls whose context has no deadline, all attempts together; 0
// does not. The default is 30 s. Streams have no bound but their context's.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithApplication sends app_access_id and app_secret_key with each call.
//
// They travel over TLS only, unless WithPlaintextSecrets is given too. A call to whose
// outgoing metadata the caller has added either of them goes without these. The secret
// appears in no error and in no line of a log.
func WithApplication(accessID, secretKey string) Option {
	return func(c *config) { c.application = &identity{accessID: accessID, secret: xlog.Secret(secretKey)} }
}

// WithPlaintextSecrets lets WithApplication send its secret unencrypted, where all on the
// way can read it. It is for development and for networks that encrypt by themselves.
func WithPlaintextSecrets() Option { return func(c *config) { c.plainSecret = true } }

// WithTLS sets how the connection is encrypted, such as a private authority or a
// certificate of the client's own. The default is TLS with the system's roots.
func WithTLS(settings *tls.Config) Option {
	return func(c *config) { c.tls, c.secure = settings, true }
}

// WithPlaintext connects without TLS. It is for trusted networks.
func WithPlaintext() Option { return func(c *config) { c.plaintext = true } }

// WithIdempotent names methods that may be called twice with the effect of once, beside
// those whose proto says so: "/pkg.Service/Method" for one, "pkg.Service" for all of a
// service. Given again, it adds to the list. Dial fails if no generated code of the
// program has the service or the method.
func WithIdempotent(names ...string) Option {
	return func(c *config) { c.idempotent = append(c.idempotent, names...) }
}

// WithRetry says how often a method that may be repeated is called at most, the first
// attempt included, and how long grpc waits between: about initial, doubled each time up
// to longest, with jitter. The default is 4, 100 ms and 1 s.
func WithRetry(attempts int, initial, longest time.Duration) Option {
	return func(c *config) { c.retry = &retry{attempts: attempts, initial: initial, longest: longest} }
}

// WithoutRetry calls every method once. Only a call that the server has certainly not
// seen is sent again, as the protocol has it.
func WithoutRetry() Option { return func(c *config) { c.retry = nil } }

// WithLoadBalancing sets the policy that chooses among the addresses of the target, such
// as "round_robin". The default is grpc's, "pick_first".
func WithLoadBalancing(policy string) Option { return func(c *config) { c.balancing = &policy } }

// WithDialOptions adds options of grpc-go, which come last and win.
//
// Interceptors of grpc.WithChainUnaryInterceptor and grpc.WithChainStreamInterceptor run
// inside those of this package, the single ones of grpc.WithUnaryInterceptor and
// grpc.WithStreamInterceptor outside. grpc.WithDefaultServiceConfig replaces the one in
// which retries and load balancing are written.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(c *config) { c.dial = append(c.dial, options...) }
}
