package call_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	unaryMethod = pb.TestService_Unary_FullMethodName
	bidiMethod  = pb.TestService_BidiStream_FullMethodName
	all         = call.Outer | call.Inner
)

// order are the parts as they are documented.
var order = []call.Part{
	call.Trace, call.Context, call.Access, call.Recover,
	call.Middleware | call.Answer, call.Validate, call.Respond,
}

// between are interceptors of an application, of either kind.
type between struct {
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

// forms are the ways in which the parts are mounted; the application's interceptors stand
// between the outer and the inner ones, or before the fused one.
var forms = []struct {
	name    string
	options func(c call.Config, app between) []grpc.ServerOption
}{
	{name: "one by one", options: func(c call.Config, app between) []grpc.ServerOption {
		return split(c, app, order[:4], order[4:])
	}},
	{name: "outer and inner", options: func(c call.Config, app between) []grpc.ServerOption {
		return split(c, app, []call.Part{call.Outer}, []call.Part{call.Inner})
	}},
	{name: "fused", options: func(c call.Config, app between) []grpc.ServerOption {
		if app.unary != nil || app.stream != nil {
			// what is mounted twice is there once
			return split(c, app, []call.Part{call.Outer}, []call.Part{all})
		}
		return split(c, app, []call.Part{all}, nil)
	}},
}

func split(c call.Config, app between, outer, inner []call.Part) []grpc.ServerOption {
	var unary []grpc.UnaryServerInterceptor
	var stream []grpc.StreamServerInterceptor
	mount := func(parts []call.Part) {
		for _, p := range parts {
			unary = append(unary, call.Unary(p, c))
			stream = append(stream, call.Stream(p, c))
		}
	}
	mount(outer)
	unary, stream = slices.Concat(unary, app.unary), slices.Concat(stream, app.stream)
	mount(inner)
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(unary...),
		grpc.ChainStreamInterceptor(stream...),
	}
}

// fixture is a server in one of the forms.
type fixture struct {
	*testing.T
	log     *calltest.Log
	service *calltest.Service
	client  pb.TestServiceClient
}

// inAllForms runs a test against a server in each form.
func inAllForms(t *testing.T, c call.Config, app between, test func(f *fixture)) {
	t.Helper()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			f := &fixture{T: t, log: calltest.Record(t), service: &calltest.Service{}}
			f.client = pb.NewTestServiceClient(calltest.Serve(t, f.service,
				form.options(c, app)...))
			test(f)
		})
	}
}

// with returns a context with metadata to send.
func with(ctx context.Context, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// trailerID returns the one id of a trailer.
func trailerID(t *testing.T, trailer metadata.MD) string {
	t.Helper()
	ids := trailer.Get("x_request_uuid")
	if len(ids) != 1 {
		t.Fatalf("ids of the trailer = %q, want one", ids)
	}
	return ids[0]
}

// envelopeOf returns the envelope in the details of a status.
func envelopeOf(t *testing.T, err error) *generate.BaseResponse {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*generate.BaseResponse); ok {
			return b
		}
	}
	t.Fatalf("no envelope in %v", err)
	return nil
}

// answer is what a client got from a call.
type answer struct {
	responses []*pb.TestResponse
	trailer   metadata.MD
	err       error
}

// id returns the one id of the trailer.
func (a *answer) id(t *testing.T) string {
	t.Helper()
	return trailerID(t, a.trailer)
}

// kinds call a method of either kind with one request.
var kinds = []struct {
	name string
	call func(ctx context.Context, f *fixture) *answer
}{
	{name: "unary", call: func(ctx context.Context, f *fixture) *answer {
		return unaryOf(ctx, f.client)
	}},
	{name: "stream", call: func(ctx context.Context, f *fixture) *answer {
		return bidiOf(ctx, f.T, f.client)
	}},
}

func unaryOf(ctx context.Context, client pb.TestServiceClient) *answer {
	a := &answer{}
	response, err := client.Unary(ctx, &pb.TestRequest{Text: "hello"}, grpc.Trailer(&a.trailer))
	if a.err = err; err == nil {
		a.responses = append(a.responses, response)
	}
	return a
}

func bidiOf(ctx context.Context, t *testing.T, client pb.TestServiceClient) *answer {
	t.Helper()
	stream, err := client.BidiStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.Send(&pb.TestRequest{Text: "hello"}),
		stream.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	a := &answer{}
	for {
		response, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				a.err = err
			}
			a.trailer = stream.Trailer()
			return a
		}
		a.responses = append(a.responses, response)
	}
}

// does makes both methods run do, and answer with an echo where it returns nil.
func (f *fixture) does(do func(ctx context.Context) error) {
	f.service.OnUnary = func(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse,
		error,
	) {
		if err := do(ctx); err != nil {
			return nil, err
		}
		return &pb.TestResponse{Text: request.GetText()}, nil
	}
	f.service.OnBidi = func(stream grpc.BidiStreamingServer[pb.TestRequest,
		pb.TestResponse],
	) error {
		if err := do(stream.Context()); err != nil {
			return err
		}
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(&pb.TestResponse{Text: request.GetText()})
	}
}

// inAllKinds runs a test with a call of either kind in each form.
func inAllKinds(
	t *testing.T, c call.Config, app between,
	test func(f *fixture, call func(ctx context.Context) *answer),
) {
	t.Helper()
	inAllForms(t, c, app, func(f *fixture) {
		for _, kind := range kinds {
			f.Run(kind.name, func(t *testing.T) {
				inner := &fixture{
					T: t, log: calltest.Record(t), service: f.service,
					client: f.client,
				}
				test(inner, func(ctx context.Context) *answer { return kind.call(ctx, inner) })
			})
		}
	})
}

// transport keeps a trailer, as that of a real server does.
type transport struct{ trailer metadata.MD }

func (*transport) Method() string               { return unaryMethod }
func (*transport) SetHeader(metadata.MD) error  { return nil }
func (*transport) SendHeader(metadata.MD) error { return nil }
func (t *transport) SetTrailer(md metadata.MD) error {
	t.trailer = md
	return nil
}

// incoming returns the context of a call from a plain client.
func incoming(ctx context.Context, pairs ...string) context.Context {
	md := metadata.Pairs(append([]string{
		":authority", "127.0.0.1:1119", "content-type",
		"application/grpc", "user-agent", "grpc-go/1.82.1",
	}, pairs...)...)
	return metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(ctx, &transport{}),
		md)
}
