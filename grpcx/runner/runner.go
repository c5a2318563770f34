// Package runner serves gRPC beside HTTP, as a task of xmain.Runner.
//
//	xmain.Runner(reg, log, nil, runner.New(
//		runner.WithRegisterService(func(ctx context.Context, registrar grpc.ServiceRegistrar) {
//			pb.RegisterUserServiceServer(registrar, user.NewService(ctx))
//		}),
//	))
//
// It listens on PLINTH_HOST and GRPC_PORT before the application reports ready; a port in
// use fails the start. Every call goes through the interceptors of unary and stream,
// which the runner mounts by itself: Trace, InitContext, AccessLog and Recover outside,
// Middleware, Validate and ResponseBuilder inside those of the application.
//
// The health service (grpc.health.v1) follows the application's readiness. Reflection is
// there where GRPC_REFLECTION is "true".
//
// At the stop the health service says no at once; after the drain delay the server takes
// no new calls and finishes those that are in flight, as the HTTP server does at the same
// time. What is left when the timeout of the graceful stop has run out, or the
// application's own, is cut off with a warning, and for unary calls, which are not
// endless by design, with an error.
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

// name is that of the runner among hooks, holds and errors.
const name = "gRPC"

// New returns a task for xmain.Runner that serves gRPC until the application stops.
//
// What goes wrong ends the application with an error. Outside an application, where
// nobody would hear of it, the error is logged: use Serve there.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		release, _ := xhook.HoldReady(ctx, name)
		defer release() // after a failure has been told
		broken := func(err error) { xhook.Fail(ctx, err) }
		if err := c.serve(ctx, release, broken); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "the gRPC server failed", slog.Any("error", err))
		}
	}
}

// Serve serves gRPC until ctx ends and the calls in flight have been answered, and
// returns what went wrong. The start's problems are reported all at once.
func Serve(ctx context.Context, options ...Option) error {
	return newConfig(options).serve(ctx, func() {}, func(error) {})
}

// serve is one life of a server; it calls listening when clients can connect, and broken
// when they no longer can although nobody wants the stop.
func (c *config) serve(ctx context.Context, listening func(), broken func(error)) error {
	s, err := c.build(ctx)
	if err != nil {
		return errors.Join(err, c.discard())
	}
	if ctx.Err() != nil { // also where the stop came while services were registered
		s.grpc.Stop()
		return c.discard()
	}
	l, err := c.listen(ctx)
	if err != nil {
		s.grpc.Stop()
		return err
	}
	c.log.Notice(ctx, "serving gRPC", slog.String("address", l.Addr().String()),
		slog.Int("services", s.own), slog.Bool("reflection", reflected()))
	return s.live(ctx, l, listening, broken)
}

// discard closes a listener that no server has got.
func (c *config) discard() error {
	if c.listener == nil {
		return nil
	}
	return c.listener.Close()
}

// build makes the server with all of its services.
func (c *config) build(ctx context.Context) (*server, error) {
	limits, err := c.limits() // an application has checked them at its start
	if err = errors.Join(append(c.faults, err)...); err != nil {
		return nil, err
	}
	s := &server{config: c, intake: newIntake(c, limits), stopped: make(chan struct{})}
	s.stopping, s.end = context.WithCancel(context.WithoutCancel(ctx))
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

// assemble may panic, as what the application gives does.
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
	s.own = len(services)
	s.warnOfOpenMethods(ctx, services)
	s.health = newHealth(ctx, s.stopping, s.grpc)
	if reflected() {
		reflection.Register(missing{s.grpc})
	}
	return nil
}

// reflected reports whether the environment asks for reflection, which shows to anyone
// what the services are.
func reflected() bool {
	text, _ := xenv.GetEnv("GRPC_REFLECTION")
	return text == "true"
}

// listen opens the address of the server.
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

// serverOptions returns the limits, the interceptors and what the application adds, which
// comes last and therefore wins.
func (s *server) serverOptions(ctx context.Context, limits limitVariables) []grpc.ServerOption {
	c := s.config
	base := call.Config{
		App: ctx, Log: c.log, Registry: c.registry, Checks: c.checks,
		InFlight: &s.inFlight,
	}
	options := append(c.bounds(limits), grpc.UnknownServiceHandler(unknown),
		grpc.InTapHandle(s.intake.tap))
	if reflected() {
		// that of the server's end
		options = append(options, grpc.ChainStreamInterceptor(endReflection(s.stopping)))
	}
	unary, stream := call.Outer, call.Outer
	if len(c.unary) == 0 {
		unary |= call.Inner
	}
	if len(c.stream) == 0 {
		stream |= call.Inner
	}
	options = append(options, grpc.ChainUnaryInterceptor(s.intake.unary(call.Unary(unary, base))),
		grpc.ChainStreamInterceptor(s.intake.stream(call.Stream(stream, base))))
	// the parts inside the application's interceptors count no call a second time
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
