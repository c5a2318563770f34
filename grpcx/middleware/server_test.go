package middleware_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echoServer returns the text of the request.
type echoServer struct {
	pb.UnimplementedTestServiceServer
}

func (echoServer) Unary(_ context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	return &pb.TestResponse{Text: request.GetText()}, nil
}

func (echoServer) BidiStream(
	stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&pb.TestResponse{Text: request.GetText()}); err != nil {
			return err
		}
	}
}

// serve starts a server that runs the middleware of r and returns a client.
func serve(t *testing.T, r *middleware.Registry) pb.TestServiceClient {
	t.Helper()
	server := grpc.NewServer(
		grpc.UnaryInterceptor(func(
			ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			if m := r.Unary(middleware.ExtractServiceName(info.FullMethod)); m != nil {
				return m(ctx, request, info, next)
			}
			return next(ctx, request)
		}),
		grpc.StreamInterceptor(func(
			srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
			next grpc.StreamHandler,
		) error {
			if m := r.Stream(middleware.ExtractServiceName(info.FullMethod)); m != nil {
				return m(srv, stream, info, next)
			}
			return next(srv, stream)
		}),
	)
	pb.RegisterTestServiceServer(server, echoServer{})
	return pb.NewTestServiceClient(calltest.Start(t, server))
}

func TestMiddleware_Server(t *testing.T) {
	t.Run("unary", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		client := serve(t, &r)
		call := func() (string, error) {
			response, err := client.Unary(t.Context(), &pb.TestRequest{Text: "hello"})
			return response.GetText(), err
		}
		if got, err := call(); got != "hello" || err != nil {
			t.Errorf("without middleware = %q, %v", got, err)
		}
		r.UseUnary(&pb.TestService_ServiceDesc, recordUnary("A", &trace), recordUnary("B", &trace))
		if got, err := call(); got != "hello" || err != nil {
			t.Errorf("with middleware = %q, %v", got, err)
		}
		r.UseUnary(&pb.TestService_ServiceDesc,
			func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
				return nil, status.Error(codes.PermissionDenied, "no")
			})
		if got, err := call(); got != "" || status.Code(err) != codes.PermissionDenied {
			t.Errorf("with a rejecting middleware = %q, %v", got, err)
		}
		once := []string{"A-in", "B-in", "B-out", "A-out"}
		if diff := cmp.Diff(append(once, once...), trace); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})

	t.Run("stream", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		r.UseStream(&pb.TestService_ServiceDesc,
			recordStream("A", &trace), recordStream("B", &trace))
		stream, err := serve(t, &r).BidiStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&pb.TestRequest{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		if response, err := stream.Recv(); response.GetText() != "hello" || err != nil {
			t.Errorf("response = %v, %v", response, err)
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("error at the end = %v, want EOF", err)
		}
		if diff := cmp.Diff([]string{"A-in", "B-in", "B-out", "A-out"}, trace); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}
