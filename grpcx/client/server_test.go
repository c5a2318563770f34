package client_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/interceptor/stream"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	request    = testproto.TestRequest
	response   = testproto.TestResponse
	testClient = testproto.TestServiceClient
	unaryOf    func(context.Context, *request) (*response, error)
	bidi       = grpc.BidiStreamingServer[request, response]
)

// service is a test service with one handler per kind of call.
type service struct {
	testproto.UnimplementedTestServiceServer
	unary unaryOf
	bidi  func(stream *bidi) error
}

func (s *service) Unary(ctx context.Context, r *request) (*response, error) {
	return s.unary(ctx, r)
}

func (s *service) UnarySafe(ctx context.Context, r *request) (*response, error) {
	return s.unary(ctx, r)
}

func (s *service) UnaryIdempotent(ctx context.Context, r *request) (*response, error) {
	return s.unary(ctx, r)
}

func (s *service) BidiStream(stream bidi) error { return s.bidi(&stream) }

// serve starts a server and returns its address and a function that kills it.
func serve(
	tb testing.TB, s *service, address string, options ...grpc.ServerOption,
) (_ string, kill func()) {
	tb.Helper()
	actual, stop, err := listen(tb.Context(), s, address, options...)
	must(tb, err)
	kill = func() {
		if err := stop(); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(kill)
	return actual, kill
}

// start is like serve, for examples.
func start(s *service) (_ string, stop func()) {
	address, end, err := listen(context.Background(), s, loopback)
	if err != nil {
		panic(err)
	}
	return address, func() { _ = end() }
}

func listen(
	ctx context.Context, s *service, address string, options ...grpc.ServerOption,
) (_ string, stop func() error, _ error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, err
	}
	options = append(options,
		grpc.ChainUnaryInterceptor(unary.Trace(), unary.ResponseBuilder()),
		grpc.ChainStreamInterceptor(stream.Trace(), stream.Recover()))
	server := grpc.NewServer(options...)
	testproto.RegisterTestServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	stop = sync.OnceValue(func() error {
		server.Stop()
		if err := <-served; !errors.Is(err, grpc.ErrServerStopped) { // Serve had not started
			return err
		}
		return nil
	})
	return listener.Addr().String(), stop, nil
}

const loopback = "127.0.0.1:0"

// dial returns a client without TLS, unless options override this.
func dial(tb testing.TB, address string, options ...client.Option) testproto.TestServiceClient {
	tb.Helper()
	conn, err := client.Dial(address,
		append([]client.Option{client.WithPlaintext()}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return testproto.NewTestServiceClient(conn)
}

// dialGRPC returns a client of a grpc-go connection without this package.
func dialGRPC(tb testing.TB, address string) testClient {
	tb.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(tb, err)
	tb.Cleanup(func() { _ = conn.Close() })
	return testproto.NewTestServiceClient(conn)
}

// inspect returns a client and a channel of the calls that its server receives.
func inspect(t *testing.T, options ...client.Option) (testproto.TestServiceClient, chan received) {
	t.Helper()
	calls := make(chan received, 8)
	address, _ := serve(t, &service{
		unary: func(ctx context.Context, _ *request) (*response, error) {
			calls <- newReceived(ctx)
			return &response{}, nil
		},
		bidi: func(stream *bidi) error {
			calls <- newReceived((*stream).Context())
			return nil
		},
	}, loopback)
	return dial(t, address, options...), calls
}

// received is the metadata and deadline of a call as the server receives it.
type received struct {
	metadata    metadata.MD
	hasDeadline bool
}

func newReceived(ctx context.Context) received {
	md, _ := metadata.FromIncomingContext(ctx)
	_, hasDeadline := ctx.Deadline()
	return received{metadata: md, hasDeadline: hasDeadline}
}

// incoming returns the context of a request with an ID and a language.
func incoming(ctx context.Context, id, language string) *xctx.Request {
	r := xctx.NewRequest(ctx, nil)
	r.SetID(id)
	r.SetAcceptLanguage(language)
	return r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// quiet discards the log of the servers.
func quiet(tb testing.TB) {
	tb.Helper()
	e, err := xlog.New(xlog.Config{Writer: discard{}})
	must(tb, err)
	tb.Cleanup(xlog.SetDefault(e))
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

var errBusy = xerror.New(xerror.ServiceUnavailable, "not now")
