package runner

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// DefaultGracefulStopTimeout is the default timeout of the graceful shutdown.
const DefaultGracefulStopTimeout = 30 * time.Second

// Option configures the server.
type Option func(*config)

type config struct {
	log         *xlog.LogNamedLogger
	stopTimeout time.Duration
	register    []func(context.Context, grpc.ServiceRegistrar)
	unary       []grpc.UnaryServerInterceptor
	stream      []grpc.StreamServerInterceptor
	server      []grpc.ServerOption
	creds       credentials.TransportCredentials
	listener    net.Listener
	checks      []validation.Check
	registry    *middleware.Registry
	errs        []error
	limits      func() (limitVariables, error) // read from the environment at startup
}

func newConfig(options []Option) *config {
	c := &config{
		log:         xlog.WithName(xlog.NamedGRPC),
		stopTimeout: DefaultGracefulStopTimeout,
		registry:    middleware.Default,
		creds:       insecure.NewCredentials(),
		limits: func() (limitVariables, error) {
			return xenv.Load[limitVariables](xenv.Environment())
		},
	}
	for _, option := range options {
		if option != nil {
			option(c)
		}
	}
	return c
}

// WithLogger sets the logger of the server and its access log. The default is the logger
// GRPC.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		c.reject("WithLogger", log == nil, "the logger is nil")
		c.log = cmp.Or(log, c.log)
	}
}

// WithGracefulStopTimeout limits how long in-flight calls may take during shutdown. The
// application's shutdown timeout applies too. The default is DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		c.reject("WithGracefulStopTimeout", d <= 0, fmt.Sprintf("%s is not a positive duration", d))
		c.stopTimeout = d
	}
}

// WithRegisterService registers services before the server starts. ctx is the
// application's context. Repeated use adds functions.
func WithRegisterService(
	register func(ctx context.Context, registrar grpc.ServiceRegistrar),
) Option {
	return func(c *config) {
		c.reject("WithRegisterService", register == nil, "the function is nil")
		c.register = append(c.register, register)
	}
}

// WithUnaryInterceptors adds interceptors for unary calls, outermost first. They run
// inside Trace, InitContext, AccessLog and Recover, and outside Middleware, Validate and
// ResponseBuilder. If the list contains one of these, it runs at its position in the
// list. Repeated use adds interceptors.
func WithUnaryInterceptors(interceptors ...grpc.UnaryServerInterceptor) Option {
	return func(c *config) {
		for i, interceptor := range interceptors {
			c.reject("WithUnaryInterceptors",
				interceptor == nil, fmt.Sprintf("interceptor %d is nil", i+1))
		}
		c.unary = append(c.unary, interceptors...)
	}
}

// WithStreamInterceptors is the streaming counterpart of WithUnaryInterceptors.
func WithStreamInterceptors(interceptors ...grpc.StreamServerInterceptor) Option {
	return func(c *config) {
		for i, interceptor := range interceptors {
			c.reject("WithStreamInterceptors",
				interceptor == nil, fmt.Sprintf("interceptor %d is nil", i+1))
		}
		c.stream = append(c.stream, interceptors...)
	}
}

// WithCredentials sets the transport credentials, such as credentials.NewTLS. Use it
// instead of grpc.Creds in WithServerOptions, which hides incomplete messages from
// GRPC_MAX_INFLIGHT_BYTES.
func WithCredentials(creds credentials.TransportCredentials) Option {
	return func(c *config) {
		c.reject("WithCredentials", creds == nil, "the credentials are nil")
		c.creds = creds
	}
}

// WithServerOptions adds options of grpc-go. They override the options of the runner.
func WithServerOptions(options ...grpc.ServerOption) Option {
	return func(c *config) {
		for i, option := range options {
			c.reject("WithServerOptions", option == nil, fmt.Sprintf("option %d is nil", i+1))
		}
		c.server = append(c.server, options...)
	}
}

// WithListener sets the listener and replaces PLINTH_HOST and GRPC_PORT. The server
// closes it, even if startup fails.
func WithListener(l net.Listener) Option {
	return func(c *config) {
		c.reject("WithListener", l == nil, "the listener is nil")
		c.listener = l
	}
}

// WithValidation adds checks of requests, such as those of the module protovalidate. They
// run after the requests' own validation methods. Repeated use adds checks.
func WithValidation(checks ...validation.Check) Option {
	return func(c *config) {
		for i, check := range checks {
			c.reject("WithValidation", check == nil, fmt.Sprintf("check %d is nil", i+1))
		}
		c.checks = append(c.checks, checks...)
	}
}

// reject records a problem of an option, reported at startup.
func (c *config) reject(option string, invalid bool, problem string) {
	if invalid {
		c.errs = append(c.errs, fmt.Errorf("grpcx/runner: %s: %s", option, problem))
	}
}

// Limits of the server. WithServerOptions can override each of them.
const (
	maxMessageBytes = 4 << 20
	maxHeaderBytes  = 64 << 10 // metadata of a call
	handshakeTime   = 20 * time.Second

	// Flow control windows. A client can send larger messages while the server reads, at
	// the cost of one round trip. grpc-go's dynamic estimate would let each call store up
	// to 16 MB that no handler reads.
	streamWindow     = 256 << 10
	connectionWindow = 4 << 20

	// A connection without calls is closed after maxIdle. A connection older than maxAge
	// receives no new calls, so clients spread over new servers; grpc-go adds a jitter of
	// a tenth. Calls in flight continue without limit, because streams may be endless.
	maxIdle = 15 * time.Minute
	maxAge  = 30 * time.Minute

	// The server pings an idle connection after pingAfter and closes it if no reply
	// arrives within pingTimeout. It closes connections of clients that ping more often
	// than minPing.
	pingAfter   = time.Minute
	pingTimeout = 20 * time.Second
	minPing     = 5 * time.Second // half of the minimum in grpc-go's clients
)

func (c *config) limitOptions(limits limitVariables) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(uint32(limits.MaxStreams)), // validated
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: maxIdle,
			MaxConnectionAge:  maxAge,
			Time:              pingAfter,
			Timeout:           pingTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             minPing,
			PermitWithoutStream: true,
		}),
		grpc.WaitForHandlers(true),
		grpc.Creds(frameCredentials{c.creds}),
	}
}
