package runner_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/grpcx/interceptor/stream"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/runner"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// events records events in order.
type events struct {
	mu   sync.Mutex
	list []string
}

func (n *events) add(event string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, event)
}

func (n *events) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, " ")
}

// unary returns an interceptor that records its start and return.
func (n *events) unary(name string) grpc.UnaryServerInterceptor {
	return func(
		ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		n.add(name + "-in")
		defer n.add(name + "-out")
		return next(ctx, req)
	}
}

func (n *events) stream(name string) grpc.StreamServerInterceptor {
	return func(
		srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
	) error {
		n.add(name + "-in")
		defer n.add(name + "-out")
		return next(srv, ss)
	}
}

// chain returns a registry with two middleware of each kind for the test service.
func (n *events) chain() *middleware.Registry {
	r := &middleware.Registry{}
	r.UseUnary(&pb.TestService_ServiceDesc, n.unary("m1"), n.unary("m2"))
	r.UseStream(&pb.TestService_ServiceDesc, n.stream("m1"), n.stream("m2"))
	return r
}

func TestInterceptors(t *testing.T) {
	t.Run("run in the documented order", func(t *testing.T) {
		n := &events{}
		a := prepare(t, fixture{runner: []runner.Option{
			runner.WithMiddleware(n.chain()),
			runner.WithUnaryInterceptors(n.unary("a"), n.unary("b")),
			runner.WithUnaryInterceptors(n.unary("c")),
			runner.WithStreamInterceptors(n.stream("a"), n.stream("b")),
			runner.WithStreamInterceptors(n.stream("c")),
			runner.WithValidation(func(context.Context, any) error { n.add("check1"); return nil }),
			runner.WithValidation(func(context.Context, any) error { n.add("check2"); return nil }),
		}})
		a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			n.add("handler")
			return &pb.TestResponse{}, nil
		}
		a.service.OnServer = func(
			*pb.TestRequest, grpc.ServerStreamingServer[pb.TestResponse],
		) error {
			n.add("handler")
			return nil
		}
		a.start()
		const want = "a-in b-in c-in m1-in m2-in check1 check2 handler " +
			"m2-out m1-out c-out b-out a-out"
		call(t, a.client(), "hello")
		if n.String() != want {
			t.Errorf("unary order = %s\nwant %s", n, want)
		}
		n.list = nil
		stream, err := a.client().ServerStream(t.Context(), &pb.TestRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if n.String() != want {
			t.Errorf("stream order = %s\nwant %s", n, want)
		}
	})

	t.Run("use the registry of the server", func(t *testing.T) {
		n := &events{}
		a := prepare(t, fixture{runner: []runner.Option{
			runner.WithMiddleware(n.chain()),
			runner.WithUnaryInterceptors(unary.Middleware()),
			runner.WithStreamInterceptors(stream.Middleware()),
		}})
		a.service.OnServer = func(
			*pb.TestRequest, grpc.ServerStreamingServer[pb.TestResponse],
		) error {
			return nil
		}
		a.start()
		const want = "m1-in m2-in m2-out m1-out"
		call(t, a.client(), "hello")
		if n.String() != want {
			t.Errorf("unary order = %s, want %s", n, want)
		}
		n.list = nil
		stream, err := a.client().ServerStream(t.Context(), &pb.TestRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if n.String() != want {
			t.Errorf("stream order = %s, want %s", n, want)
		}
	})

	t.Run("behave the same if they are listed explicitly", func(t *testing.T) {
		none := observe(t, func(context.Context) []runner.Option { return nil })
		for _, want := range []struct{ got, prefix string }{
			{none.Echo, codes.OK.String()},
			{none.Fail, codes.NotFound.String()},
			{none.Panic, codes.Internal.String()},
			{none.Invalid, codes.InvalidArgument.String()},
			{none.StreamPanic, codes.Internal.String()},
		} {
			if !strings.HasPrefix(want.got, want.prefix) ||
				!strings.HasSuffix(want.got, "request-1") {
				t.Errorf("call = %q, want %s and the id", want.got, want.prefix)
			}
		}
		if !strings.Contains(none.Echo, "the node") {
			t.Errorf("response = %q, want the value of a node", none.Echo)
		}
		listed := observe(t, func(app context.Context) []runner.Option {
			return []runner.Option{
				runner.WithUnaryInterceptors(
					unary.InitContext(app), unary.Recover(), unary.Middleware(),
					unary.ResponseBuilder()),
				runner.WithStreamInterceptors(
					stream.InitContext(app), stream.Recover(), stream.Middleware()),
			}
		})
		if diff := cmp.Diff(none, listed); diff != "" {
			t.Errorf("behavior differs with the list (-without +with):\n%s", diff)
		}
		if want := strings.TrimSuffix(strings.Repeat("m-in m-out ", 6), " "); none.Order != want {
			t.Errorf("order = %s, want %s", none.Order, want)
		}
	})

	t.Run("expose nodes and request ID to the handler", func(t *testing.T) {
		a := prepare(t, fixture{nodes: []xregnode.Node{{
			Key:  "node",
			Node: func(context.Context) (any, error) { return 42, nil },
		}}})
		var value any
		var id string
		a.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			value, id = ctx.Value(xctx.ContextKey("node")), xctxutil.GetRequestKey(ctx)
			return &pb.TestResponse{}, nil
		}
		a.start()
		response := call(t, a.client(), "hello")
		if value != 42 || id == "" || response.GetBaseResponse().GetContext() != id {
			t.Errorf("node = %v, id = %q, received id = %q; want 42 and the same id",
				value, id, response.GetBaseResponse().GetContext())
		}
	})
}

// defaultEvents records the events of the middleware in the default registry, which
// cannot be unregistered. It may be nil.
var defaultEvents atomic.Pointer[events]

// registerDefault registers middleware in the default registry.
var registerDefault = sync.OnceFunc(func() {
	ignored := &events{}
	current := func() *events {
		if n := defaultEvents.Load(); n != nil {
			return n
		}
		return ignored
	}
	middleware.UseUnary(&pb.TestService_ServiceDesc,
		func(
			ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			return current().unary("m")(ctx, req, info, next)
		})
	middleware.UseStream(&pb.TestService_ServiceDesc,
		func(
			srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
		) error {
			return current().stream("m")(srv, ss, info, next)
		})
})

// behavior contains what a client receives from calls of each kind.
type behavior struct {
	Echo, Fail, Panic, Invalid, Nothing, StreamPanic string
	Order                                            string
}

// observe makes a call of each kind.
func observe(t *testing.T, options func(app context.Context) []runner.Option) behavior {
	t.Helper()
	n := &events{}
	registerDefault()
	defaultEvents.Store(n)
	defer defaultEvents.Store(nil)
	check := func(ctx context.Context, request any) error {
		if request.(*pb.TestRequest).GetText() != "invalid" {
			return nil
		}
		failure := xvalid.FieldError{Field: "text", Tag: "valid", Message: "is invalid"}
		return validation.Reject(ctx, []xvalid.FieldError{failure}, nil)
	}
	a := prepare(t, fixture{nodes: []xregnode.Node{{
		Key:  "node",
		Node: func(context.Context) (any, error) { return "the node", nil },
	}}})
	l := listen(t)
	a.address = l.Addr().String()
	a.service.OnUnary = func(
		ctx context.Context, request *pb.TestRequest,
	) (*pb.TestResponse, error) {
		switch request.GetText() {
		case "fail":
			return nil, xerror.New(xerror.ResourceNotFound, "no such thing")
		case "panic":
			panic("test")
		case "nothing":
			return nil, nil // an error of the handler
		}
		value, _ := ctx.Value(xctx.ContextKey("node")).(string)
		return &pb.TestResponse{Text: value}, nil
	}
	a.service.OnServer = func(*pb.TestRequest, grpc.ServerStreamingServer[pb.TestResponse]) error {
		panic("test")
	}
	// The options need the application's context, which exists before the task.
	a.task = runner.New(append(options(a.Init.Ctx),
		runner.WithListener(l), runner.WithValidation(check),
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, a.service)
		}))...)
	a.start()
	client := a.client()
	const id = "request-1"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x_request_uuid", id)
	call := func(text string) string {
		var trailer metadata.MD
		response, err := client.Unary(ctx, &pb.TestRequest{Text: text}, grpc.Trailer(&trailer))
		return describe(t, response, err) + strings.Join(trailer.Get("x_request_uuid"), ",")
	}
	b := behavior{
		Echo: call("echo"), Fail: call("fail"), Panic: call("panic"),
		Invalid: call("invalid"), Nothing: call("nothing"),
	}
	stream, err := client.ServerStream(ctx, &pb.TestRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	b.StreamPanic = describe(t, nil, err) +
		strings.Join(stream.Trailer().Get("x_request_uuid"), ",")
	b.Order = n.String()
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	for what, want := range map[string]int{"call": 6, "panic": 2} {
		if got := len(a.log.Lines(what)); got != want {
			t.Errorf("lines %q = %d, want %d:\n%s", what, got, want, a.log)
		}
	}
	return b
}

// describe formats what a client receives, including the details of the status.
func describe(t *testing.T, response *pb.TestResponse, err error) string {
	t.Helper()
	var out strings.Builder
	for _, m := range []proto.Message{response, status.Convert(err).Proto()} {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = out.Write(text)
		out.WriteString("|")
	}
	return status.Code(err).String() + out.String()
}

func TestWithLogger(t *testing.T) {
	a := prepare(t, fixture{
		runner: []runner.Option{runner.WithLogger(xlog.WithName("ORDERS"))},
	}).start()
	call(t, a.client(), "hello")
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	names := []any{a.log.Only("serving gRPC")["name"], a.log.Only("call")["name"]}
	if !slices.Equal(names, []any{"ORDERS", "ORDERS"}) {
		t.Errorf("names = %v, want the name of the logger", names)
	}
}
