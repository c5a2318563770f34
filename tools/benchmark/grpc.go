package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"testing"

	"github.com/google/uuid"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// grpcs compares the interceptor chain of the runner with its separate parts and with
// go-grpc-middleware. The latter does less: it has a hand-written ID, a zerolog line and
// recovery, but no application context, validation, error mapping or completion of the
// response. The chains are called as functions, with the arguments of a server. The last
// comparisons use a connection.
func grpcs() []comparison {
	quiet, loud := grpcEngine(slog.LevelError), grpcEngine(slog.LevelInfo)
	ours, oursLine := benchChain(runnerServer(quiet)), benchChain(runnerServer(loud))
	return []comparison{
		{
			name: "chain without a line", peer: "go-grpc-middleware",
			target: 0.5, allocs: 3, ours: ours, theirs: benchChain(peerServer(zerolog.ErrorLevel)),
		},
		{
			name: "chain without a line", peer: "one by one",
			target: 1, allocs: 3, ours: ours, theirs: benchChain(partsServer(quiet)),
		},
		{
			name: "chain with a line", peer: "go-grpc-middleware", target: 0.5, allocs: 3,
			ours: oursLine, theirs: benchChain(peerServer(zerolog.InfoLevel)),
		},
		{
			name: "chain with a line", peer: "one by one",
			target: 1, allocs: 3, ours: oursLine, theirs: benchChain(partsServer(loud)),
		},
		grpcLoopback("bare grpc-go", grpcServer()),
		grpcLoopback("grpc-go and an id by hand", grpcServer(grpc.UnaryInterceptor(peerID))),
	}
}

// grpcLoopback compares a call over a connection. Only Plinth logs a line. There is no
// target for the time: bare grpc-go has no trailer and no limit of in-flight requests.
func grpcLoopback(peer string, theirs serverStarter) comparison {
	return comparison{
		name: "call over a connection, with a line", peer: peer, allocs: -1,
		ours: benchCalls(runnerServer(grpcEngine(slog.LevelInfo))), theirs: benchCalls(theirs),
	}
}

// grpcClaims returns the claims with absolute figures.
func grpcClaims() []claim {
	return []claim{
		{name: "chain without a line (target 400 ns, 3 allocations)", show: func() (string, error) {
			return absolute(benchChain(runnerServer(grpcEngine(slog.LevelError)))), nil
		}},
		{name: "chain with a line (target 1000 ns, 3 allocations)", show: func() (string, error) {
			return absolute(benchChain(runnerServer(grpcEngine(slog.LevelInfo)))), nil
		}},
		{name: "allocations of a call over a connection beyond bare grpc-go's, with a line (target 16)", show: func() (string, error) {
			c := grpcLoopback("bare grpc-go", grpcServer())
			ours, theirs := testing.Benchmark(c.ours), testing.Benchmark(c.theirs)
			return fmt.Sprint(ours.AllocsPerOp() - theirs.AllocsPerOp()), nil
		}},
	}
}

// absolute returns the minimum of many rounds, because other processes can only add to
// the time.
func absolute(side func(*testing.B)) string {
	best := testing.Benchmark(side)
	for range 14 {
		if r := testing.Benchmark(side); perOp(r) < perOp(best) {
			best = r
		}
	}
	return fmt.Sprintf("%.0f ns, %d allocations, %d bytes",
		perOp(best), best.AllocsPerOp(), best.AllocedBytesPerOp())
}

func grpcEngine(level slog.Level) *xlog.Engine {
	return must(xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON, Level: level}))
}

// echo is a service with one method, which returns an envelope. Like every generated
// method, it receives the interceptor chain of the server. benchChain reads the chain
// from it.
type echo struct{ chain grpc.UnaryServerInterceptor }

const (
	echoService = "benchmark.Echo"
	echoMethod  = "/" + echoService + "/Call"
)

func (e *echo) register(_ context.Context, registrar grpc.ServiceRegistrar) {
	registrar.RegisterService(&grpc.ServiceDesc{
		ServiceName: echoService, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: e.serve}},
	}, e)
}

func (e *echo) serve(srv any, ctx context.Context, decode func(any) error, //nolint:revive // context-as-argument: grpc's order
	chain grpc.UnaryServerInterceptor,
) (any, error) {
	in := new(generate.BaseResponse)
	if err := decode(in); err != nil {
		return nil, err
	}
	handler := func(context.Context, any) (any, error) {
		return &generate.BaseResponse{Output: "Success", Code: 200, Message: "done"}, nil
	}
	if e.chain = chain; chain == nil {
		return handler(ctx, in)
	}
	return chain(ctx, in, &grpc.UnaryServerInfo{Server: srv, FullMethod: echoMethod}, handler)
}

// serverStarter starts a server with echo on a listener, and returns a function that
// stops it.
type serverStarter func(e *echo, l net.Listener) (stop func())

func runnerServer(e *xlog.Engine) serverStarter {
	return func(service *echo, l net.Listener) func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			done <- runner.Serve(ctx, runner.WithListener(l),
				runner.WithRegisterService(service.register),
				runner.WithLogger(e.WithName(xlog.NamedGRPC)))
		}()
		return func() {
			cancel()
			if err := <-done; err != nil {
				panic(err)
			}
		}
	}
}

func grpcServer(options ...grpc.ServerOption) serverStarter {
	return func(service *echo, l net.Listener) func() {
		server := grpc.NewServer(options...)
		service.register(context.Background(), server)
		go func() { _ = server.Serve(l) }()
		return server.Stop
	}
}

// partsServer mounts our interceptors separately.
func partsServer(e *xlog.Engine) serverStarter {
	return grpcServer(grpc.ChainUnaryInterceptor(
		unary.Trace(), unary.InitContext(context.Background()),
		unary.AccessLog(e.WithName(xlog.NamedGRPC)),
		unary.Recover(), unary.Middleware(), unary.Validate(), unary.ResponseBuilder(),
	))
}

// peerServer mounts go-grpc-middleware with the zerolog adapter of its documentation, and
// logs one line per call.
func peerServer(level zerolog.Level) serverStarter {
	zero := zerolog.New(io.Discard).With().Timestamp().Logger().Level(level)
	logger := logging.LoggerFunc(func(_ context.Context, level logging.Level, msg string,
		fields ...any,
	) {
		if at := zeroLevels[level]; at >= zero.GetLevel() {
			zero.WithLevel(at).Fields(fields).Msg(msg)
		}
	})
	return grpcServer(grpc.ChainUnaryInterceptor(
		peerID,
		logging.UnaryServerInterceptor(logger, logging.WithLogOnEvents(logging.FinishCall),
			logging.WithFieldsFromContext(func(ctx context.Context) logging.Fields {
				return logging.Fields{"request_id", ctx.Value(handKey{})}
			})),
		recovery.UnaryServerInterceptor(recovery.WithRecoveryHandler(func(p any) error {
			zero.Error().Any("panic", p).Bytes("stack", debug.Stack()).Msg("panic")
			return status.Error(codes.Internal, "internal error")
		})),
	))
}

var zeroLevels = map[logging.Level]zerolog.Level{
	logging.LevelDebug: zerolog.DebugLevel, logging.LevelInfo: zerolog.InfoLevel,
	logging.LevelWarn: zerolog.WarnLevel, logging.LevelError: zerolog.ErrorLevel,
}

// peerID is handID for gRPC.
func peerID(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	var id string
	if values := metadata.ValueFromIncomingContext(ctx, "x_request_uuid"); len(values) > 0 {
		id = values[0]
	} else {
		id = uuid.NewString()
	}
	_ = grpc.SetTrailer(ctx, metadata.Pairs("x_request_uuid", id))
	return next(context.WithValue(ctx, handKey{}, id), req)
}

// connected serves echo and calls it once.
func connected(start serverStarter) (service *echo, conn *grpc.ClientConn, stop func()) {
	service = new(echo)
	l := must(new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"))
	stopServer := start(service, l)
	conn = must(grpc.NewClient(l.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials())))
	stop = func() {
		_ = conn.Close()
		stopServer()
	}
	if err := callEcho(context.Background(), conn); err != nil {
		panic(err)
	}
	return service, conn, stop
}

func callEcho(ctx context.Context, conn *grpc.ClientConn) error {
	out := new(generate.BaseResponse)
	err := conn.Invoke(ctx, echoMethod, &generate.BaseResponse{Message: "please"}, out)
	if err == nil && out.GetCode() != 200 {
		return errors.New("empty response")
	}
	return err
}

// benchCalls measures sequential calls over a connection.
func benchCalls(start serverStarter) func(*testing.B) {
	return func(b *testing.B) {
		_, conn, stop := connected(start)
		defer stop()
		benchCall(func() error { return callEcho(b.Context(), conn) })(b)
	}
}

// transport records the trailer.
type transport struct{ trailer metadata.MD }

// Method implements grpc.ServerTransportStream.
func (*transport) Method() string { return echoMethod }

// SetHeader implements grpc.ServerTransportStream.
func (*transport) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerTransportStream.
func (*transport) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements grpc.ServerTransportStream.
func (t *transport) SetTrailer(md metadata.MD) error {
	t.trailer = md
	return nil
}

// benchChain measures the chain of a server, which it calls as a function with the
// metadata of a plain client.
func benchChain(start serverStarter) func(*testing.B) {
	service, _, stop := connected(start)
	stop()
	chain, info := service.chain, &grpc.UnaryServerInfo{FullMethod: echoMethod}
	ctx := grpc.NewContextWithServerTransportStream(context.Background(), &transport{})
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs(":authority", "127.0.0.1:1119",
		"content-type", "application/grpc", "user-agent", "grpc-go/1.82.1"))
	request := any(&generate.BaseResponse{})
	response := any(&generate.BaseResponse{Output: "Success", Code: 200})
	handler := func(ctx context.Context, _ any) (any, error) { return response, ctx.Err() }
	return benchCall(func() error {
		_, err := chain(ctx, request, info, handler)
		return err
	})
}
