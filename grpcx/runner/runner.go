// Package runner serves gRPC next to HTTP as a task of xmain.Runner.
//
//	xmain.Runner(reg, log, nil, runner.New(
//		runner.WithRegisterService(func(ctx context.Context, registrar grpc.ServiceRegistrar) {
//			pb.RegisterUserServiceServer(registrar, user.NewService(ctx))
//		}),
//	))
//
// The server listens on PLINTH_HOST and GRPC_PORT before the application becomes ready.
// If the port is in use, startup fails. The runner mounts the interceptors of the
// packages unary and stream: Trace, InitContext, AccessLog and Recover outside the
// application's interceptors; Middleware, Validate and ResponseBuilder inside.
//
// The health service (grpc.health.v1) reports the application's readiness. Reflection is
// enabled if GRPC_REFLECTION is "true".
//
// At shutdown the health service reports NOT_SERVING immediately. After the drain delay
// the server stops accepting calls and waits for in-flight calls, concurrently with the
// HTTP server. If the timeout of the graceful stop or of the application expires, the
// server closes the remaining connections and logs a warning. Force closed unary calls
// also cause an error, because unary calls, unlike streams, are never endless by design.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/grpcx/internal/call"
)

// name is the name of the runner in hooks and errors.
const name = "gRPC"

// New returns a task for xmain.Runner that serves gRPC until the application shuts down.
//
// An error shuts the application down. Outside an application the error is only logged;
// use Serve there.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		release, _ := xhook.HoldReady(ctx, name)
		defer release() // after xhook.Fail
		fail := func(err error) { xhook.Fail(ctx, err) }
		if err := c.serve(ctx, release, fail); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "gRPC server failed", slog.Any("error", err))
		}
	}
}

// Serve serves gRPC until ctx is canceled and in-flight calls have completed. If the
// configuration is invalid, the error reports all problems.
func Serve(ctx context.Context, options ...Option) error {
	return newConfig(options).serve(ctx, func() {}, func(error) {})
}

// serve builds and runs a server. It calls listening when clients can connect, and fail
// if the server stops unexpectedly.
func (c *config) serve(ctx context.Context, listening func(), fail func(error)) error {
	s, err := c.build(ctx)
	if err != nil {
		return errors.Join(err, c.closeListener())
	}
	if ctx.Err() != nil { // shutdown may start while services are registered
		s.grpc.Stop()
		return c.closeListener()
	}
	l, err := c.listen(ctx)
	if err != nil {
		s.grpc.Stop()
		return err
	}
	c.log.Notice(ctx, "serving gRPC", slog.String("address", l.Addr().String()),
		slog.Int("services", s.serviceCount), slog.Bool("reflection", reflectionEnabled()))
	return s.run(ctx, l, listening, fail)
}

// closeListener closes the listener of WithListener, which no server uses.
func (c *config) closeListener() error {
	if c.listener == nil {
		return nil
	}
	return c.listener.Close()
}

// build creates the server with all services.
func (c *config) build(ctx context.Context) (*server, error) {
	limits, err := c.limits() // an application has validated the variables at startup
	if err = errors.Join(append(c.errs, err)...); err != nil {
		return nil, err
	}
	s := &server{config: c, limiter: newLimiter(c, limits), stopped: make(chan struct{})}
	s.stopping, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	err = xhook.Guard(func() error { return s.assemble(ctx, limits) })
	if err == nil {
		return s, nil
	}
	if s.grpc != nil {
		s.grpc.Stop()
	}
	var p *xhook.PanicError
	if errors.As(err, &p) {
		c.log.Error(ctx, "panic", slog.Any("panic", p.Value), slog.String("stack", string(p.Stack)))
	}
	return nil, fmt.Errorf("grpcx/runner: registering services: %w", err)
}

// assemble creates the server and registers its services. Functions of the application
// may panic.
func (s *server) assemble(ctx context.Context, limits limitVariables) error {
	s.grpc = grpc.NewServer(s.serverOptions(ctx, limits)...)
	r := &registrar{Server: s.grpc}
	for _, register := range s.register {
		register(ctx, r)
	}
	if len(r.errs) > 0 {
		return errors.Join(r.errs...)
	}
	services := s.grpc.GetServiceInfo()
	s.serviceCount = len(services)
	s.warnOfOpenMethods(ctx, services)
	s.health = newHealth(ctx, s.stopping, s.grpc)
	if reflectionEnabled() {
		reflection.Register(ifMissing{s.grpc})
	}
	return nil
}

// reflectionEnabled reports whether GRPC_REFLECTION is "true".
func reflectionEnabled() bool {
	text, _ := xenv.GetEnv("GRPC_REFLECTION")
	return text == "true"
}

// listen opens the listener of the server.
func (c *config) listen(ctx context.Context) (net.Listener, error) {
	if c.listener != nil {
		return c.listener, nil
	}
	v, err := xenv.Load[listenVariables](xenv.Environment())
	if err != nil {
		return nil, fmt.Errorf("grpcx/runner: %w", err)
	}
	address := net.JoinHostPort(xenv.GetEnvString(xenv.Host, "localhost"), strconv.Itoa(v.Port))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("grpcx/runner: %s and %s: cannot listen on %s: %w",
			xenv.Host, Port, address, err)
	}
	return l, nil
}

// serverOptions returns the limits, the interceptors and the application's options, which
// are last and override the others.
func (s *server) serverOptions(ctx context.Context, limits limitVariables) []grpc.ServerOption {
	c := s.config
	base := call.Config{
		App:      ctx,
		Log:      c.log,
		Registry: c.registry,
		Checks:   c.checks,
		InFlight: &s.inFlight,
	}
	options := append(c.limitOptions(limits),
		grpc.UnknownServiceHandler(unknown), grpc.InTapHandle(s.limiter.tap))
	if reflectionEnabled() {
		options = append(options, grpc.ChainStreamInterceptor(endReflection(s.stopping)))
	}
	unary, stream := call.Outer, call.Outer
	if len(c.unary) == 0 {
		unary |= call.Inner
	}
	if len(c.stream) == 0 {
		stream |= call.Inner
	}
	options = append(options,
		grpc.ChainUnaryInterceptor(s.limiter.unary(call.Unary(unary, base))),
		grpc.ChainStreamInterceptor(s.limiter.stream(call.Stream(stream, base))))
	// The outer interceptors count the calls.
	base.InFlight = nil
	if len(c.unary) > 0 {
		options = append(options,
			grpc.ChainUnaryInterceptor(append(c.unary, call.Unary(call.Inner, base))...))
	}
	if len(c.stream) > 0 {
		options = append(options,
			grpc.ChainStreamInterceptor(append(c.stream, call.Stream(call.Inner, base))...))
	}
	return append(options, c.server...)
}
