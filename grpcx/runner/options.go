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

// DefaultGracefulStopTimeout is how long calls in flight may take at the stop where
// nothing else is said.
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
	faults      []error
	limits      func() (limitVariables, error) // of the environment when the server starts
}

func newConfig(options []Option) *config {
	c := &config{
		log: xlog.WithName(xlog.NamedGRPC), stopTimeout: DefaultGracefulStopTimeout,
		registry: middleware.Default,
		creds:    insecure.NewCredentials(),
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

// WithLogger has the server's lines, those of the access log among them, written by log.
// The default is the logger GRPC.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return func(c *config) {
		c.refuse("WithLogger", log == nil, "the logger is nil")
		c.log = cmp.Or(log, c.log)
	}
}

// WithGracefulStopTimeout bounds how long calls in flight may take at the stop. The
// application's shutdown timeout bounds it too. The default is
// DefaultGracefulStopTimeout.
func WithGracefulStopTimeout(d time.Duration) Option {
	return func(c *config) {
		c.refuse("WithGracefulStopTimeout", d <= 0, fmt.Sprintf("%s is no duration above 0", d))
		c.stopTimeout = d
	}
}

// WithRegisterService adds services to the server before it serves. The context is the
// application's. It may be given several times.
func WithRegisterService(
	register func(ctx context.Context, registrar grpc.ServiceRegistrar),
) Option {
	return func(c *config) {
		c.refuse("WithRegisterService", register == nil, "the function is nil")
		c.register = append(c.register, register)
	}
}

// WithUnaryInterceptors adds interceptors for unary calls, outermost first. They stand
// inside Trace, InitContext, AccessLog and Recover, and outside Middleware, Validate and
// ResponseBuilder; those that are named here as well keep the place that they are given
// here. It may be given several times.
func WithUnaryInterceptors(interceptors ...grpc.UnaryServerInterceptor) Option {
	return func(c *config) {
		for i, one := range interceptors {
			c.refuse("WithUnaryInterceptors", one == nil, fmt.Sprintf("interceptor %d is nil", i+1))
		}
		c.unary = append(c.unary, interceptors...)
	}
}

// WithStreamInterceptors is WithUnaryInterceptors for streams.
func WithStreamInterceptors(interceptors ...grpc.StreamServerInterceptor) Option {
	return func(c *config) {
		for i, one := range interceptors {
			c.refuse("WithStreamInterceptors",
				one == nil, fmt.Sprintf("interceptor %d is nil", i+1))
		}
		c.stream = append(c.stream, interceptors...)
	}
}

// WithCredentials encrypts connections, for instance with credentials.NewTLS. Use it
// instead of grpc.Creds in WithServerOptions, which hides unfinished messages from the
// limit of their bytes: see GRPC_MAX_INFLIGHT_BYTES.
func WithCredentials(creds credentials.TransportCredentials) Option {
	return func(c *config) {
		c.refuse("WithCredentials", creds == nil, "the credentials are nil")
		c.creds = creds
	}
}

// WithServerOptions adds options of grpc-go. They come last and replace the runner's
// limits.
func WithServerOptions(options ...grpc.ServerOption) Option {
	return func(c *config) {
		for i, one := range options {
			c.refuse("WithServerOptions", one == nil, fmt.Sprintf("option %d is nil", i+1))
		}
		c.server = append(c.server, options...)
	}
}

// WithListener serves an open listener instead of PLINTH_HOST and GRPC_PORT. The server
// closes it, also where the start fails.
func WithListener(l net.Listener) Option {
	return func(c *config) {
		c.refuse("WithListener", l == nil, "the listener is nil")
		c.listener = l
	}
}

// WithValidation adds checks of requests, after the requests' own methods, such as those
// of the module protovalidate. It may be given several times.
func WithValidation(checks ...validation.Check) Option {
	return func(c *config) {
		for i, check := range checks {
			c.refuse("WithValidation", check == nil, fmt.Sprintf("check %d is nil", i+1))
		}
		c.checks = append(c.checks, checks...)
	}
}

// refuse notes what is wrong with an option, for the start to report.
func (c *config) refuse(option string, wrong bool, problem string) {
	if wrong {
		c.faults = append(c.faults, fmt.Errorf("grpcx/runner: %s: %s", option, problem))
	}
}

// The server's limits. Each can be replaced by WithServerOptions.
const (
	maxMessageBytes = 4 << 20
	maxHeaderBytes  = 64 << 10 // of a call's metadata
	handshakeTime   = 20 * time.Second

	// What a client may send before the server reads it. A client sends more as soon as
	// the server reads a larger message, which costs one round trip; grpc-go's own
	// estimate would let each call store up to 16 MB that no handler reads.
	streamWindow     = 256 << 10
	connectionWindow = 4 << 20

	// A connection that has carried no call for maxIdle is closed. One that is maxAge old
	// is given no more calls, so that clients spread over servers that have come since;
	// grpc-go varies it by a tenth. Its calls may go on as long as they take, since a
	// stream may be endless by design.
	maxIdle = 15 * time.Minute
	maxAge  = 30 * time.Minute

	// A silent connection is asked for a sign of life after pingAfter, and closed where
	// none comes within pingTimeout. A client that asks more often than every minPing is
	// cut off.
	pingAfter   = time.Minute
	pingTimeout = 20 * time.Second
	minPing     = 5 * time.Second // half of the least that grpc-go's clients can be set to
)

func (c *config) bounds(limits limitVariables) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(uint32(limits.MaxStreams)), // within the range that was checked
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: maxIdle, MaxConnectionAge: maxAge, Time: pingAfter,
			Timeout: pingTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             minPing,
			PermitWithoutStream: true,
		}),
		grpc.WaitForHandlers(true),
		grpc.Creds(following{c.creds}),
	}
}
