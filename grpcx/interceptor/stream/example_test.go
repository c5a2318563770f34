package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/interceptor/stream"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// feed is the application's service.
type feed struct {
	pb.UnimplementedTestServiceServer
}

// ServerStream implements pb.TestServiceServer.
func (feed) ServerStream(
	request *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse],
) error {
	if err := stream.Send(&pb.TestResponse{Text: "news for " + request.GetText()}); err != nil {
		return err
	}
	return xerror.New(xerror.TooManyRequests, "daily limit reached")
}

func Example() {
	ctx := context.Background() // the application's context: reg.Init.Ctx
	server := grpc.NewServer(grpc.ChainStreamInterceptor(
		stream.Trace(),
		stream.InitContext(ctx),
		stream.AccessLog(quietLog()),
		stream.Recover(),
		stream.Middleware(),
		stream.Validate(),
	))
	pb.RegisterTestServiceServer(server, feed{})

	client, stop := serve(server)
	defer stop()
	stream, err := client.ServerStream(ctx, &pb.TestRequest{Text: "ada"})
	for err == nil {
		var response *pb.TestResponse
		if response, err = stream.Recv(); err == nil {
			fmt.Println(response.GetText())
		}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Println(status.Code(err))
	}
	// Output:
	// news for ada
	// ResourceExhausted
}

// quietLog returns a logger that discards its output.
func quietLog() *xlog.LogNamedLogger {
	engine, err := xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON})
	if err != nil {
		panic(err)
	}
	return engine.WithName(xlog.NamedGRPC)
}

// serve starts the server on a free port and returns a client.
func serve(server *grpc.Server) (client pb.TestServiceClient, stop func()) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return pb.NewTestServiceClient(conn), func() {
		_ = conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			panic(err)
		}
	}
}
