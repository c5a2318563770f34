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

// order contains the features in their documented order.
var order = []call.Features{
	call.Trace, call.Context, call.Access, call.Recover,
	call.Middleware | call.RequireResponse, call.Validate, call.Respond,
}

// appInterceptors are the interceptors of an application.
type appInterceptors struct {
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

// forms are the ways to mount the features. The application's interceptors run between
// the outer and the inner interceptors.
var forms = []struct {
	name    string
	options func(c call.Config, app appInterceptors) []grpc.ServerOption
}{
	{name: "one by one", options: func(c call.Config, app appInterceptors) []grpc.ServerOption {
		return split(c, app, order[:4], order[4:])
	}},
	{
		name: "outer and inner",
		options: func(c call.Config, app appInterceptors) []grpc.ServerOption {
			return split(c, app, []call.Features{call.Outer}, []call.Features{call.Inner})
		},
	},
	{name: "fused", options: func(c call.Config, app appInterceptors) []grpc.ServerOption {
		if app.unary != nil || app.stream != nil {
			// Features that are mounted twice run once.
			return split(c, app, []call.Features{call.Outer}, []call.Features{all})
		}
		return split(c, app, []call.Features{all}, nil)
	}},
}

// split returns the options for outer interceptors, the application's interceptors and
// inner interceptors.
func split(c call.Config, app appInterceptors, outer, inner []call.Features) []grpc.ServerOption {
	var unary []grpc.UnaryServerInterceptor
	var stream []grpc.StreamServerInterceptor
	mount := func(features []call.Features) {
		for _, p := range features {
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

// inAllForms runs test once per form.
func inAllForms(t *testing.T, c call.Config, app appInterceptors, test func(f *fixture)) {
	t.Helper()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			f := &fixture{T: t, log: calltest.Record(t), service: &calltest.Service{}}
			f.client = pb.NewTestServiceClient(
				calltest.Serve(t, f.service, form.options(c, app)...))
			test(f)
		})
	}
}

// with returns a context with outgoing metadata.
func with(ctx context.Context, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// trailerID returns the request ID in a trailer.
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

// outcome contains what a client received.
type outcome struct {
	responses []*pb.TestResponse
	trailer   metadata.MD
	err       error
}

// id returns the request ID in the trailer.
func (a *outcome) id(t *testing.T) string {
	t.Helper()
	return trailerID(t, a.trailer)
}

// kinds are the kinds of calls.
var kinds = []struct {
	name string
	call func(ctx context.Context, f *fixture) *outcome
}{
	{name: "unary", call: func(ctx context.Context, f *fixture) *outcome {
		return unaryOf(ctx, f.client)
	}},
	{name: "stream", call: func(ctx context.Context, f *fixture) *outcome {
		return bidiOf(ctx, f.T, f.client)
	}},
}

func unaryOf(ctx context.Context, client pb.TestServiceClient) *outcome {
	a := &outcome{}
	response, err := client.Unary(ctx, &pb.TestRequest{Text: "hello"}, grpc.Trailer(&a.trailer))
	if a.err = err; err == nil {
		a.responses = append(a.responses, response)
	}
	return a
}

func bidiOf(ctx context.Context, t *testing.T, client pb.TestServiceClient) *outcome {
	t.Helper()
	stream, err := client.BidiStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(stream.Send(&pb.TestRequest{Text: "hello"}), stream.CloseSend())
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	a := &outcome{}
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

// setHandlers sets handlers that run do and, if it returns nil, echo the request.
func (f *fixture) setHandlers(do func(ctx context.Context) error) {
	f.service.OnUnary = func(
		ctx context.Context, request *pb.TestRequest,
	) (*pb.TestResponse, error) {
		if err := do(ctx); err != nil {
			return nil, err
		}
		return &pb.TestResponse{Text: request.GetText()}, nil
	}
	f.service.OnBidi = func(
		stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
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

// inAllKinds runs test once per form and kind of call.
func inAllKinds(
	t *testing.T, c call.Config, app appInterceptors,
	test func(f *fixture, call func(ctx context.Context) *outcome),
) {
	t.Helper()
	inAllForms(t, c, app, func(f *fixture) {
		for _, kind := range kinds {
			f.Run(kind.name, func(t *testing.T) {
				inner := &fixture{
					T: t, log: calltest.Record(t), service: f.service, client: f.client,
				}
				test(inner, func(ctx context.Context) *outcome { return kind.call(ctx, inner) })
			})
		}
	})
}

// transport records the trailer without copying it.
type transport struct{ trailer metadata.MD }

func (*transport) Method() string               { return unaryMethod }
func (*transport) SetHeader(metadata.MD) error  { return nil }
func (*transport) SendHeader(metadata.MD) error { return nil }
func (t *transport) SetTrailer(md metadata.MD) error {
	t.trailer = md
	return nil
}

// incoming returns the context of a call with the metadata of a grpc-go client.
func incoming(ctx context.Context, pairs ...string) context.Context {
	md := metadata.Pairs(append([]string{
		":authority", "127.0.0.1:1119", "content-type", "application/grpc",
		"user-agent", "grpc-go/1.82.1",
	}, pairs...)...)
	ctx = grpc.NewContextWithServerTransportStream(ctx, &transport{})
	return metadata.NewIncomingContext(ctx, md)
}
