package unary_test

import (
	"context"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/result"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// greeter is the application's service.
type greeter struct {
	pb.UnimplementedTestServiceServer
}

// Unary implements pb.TestServiceServer.
func (greeter) Unary(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if request.GetText() == "" {
		return nil, xerror.New(xerror.NotFound, "no such user")
	}
	response := result.SuccessWith[*pb.TestResponse](ctx, "greeted")
	response.Text = "hello, " + request.GetText()
	return response, nil
}

func Example() {
	ctx := context.Background() // the application's context: reg.Init.Ctx
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(
		unary.Trace(),
		unary.InitContext(ctx),
		unary.AccessLog(quietLog()),
		unary.Recover(),
		unary.Middleware(),
		unary.Validate(),
		unary.ResponseBuilder(),
	))
	pb.RegisterTestServiceServer(server, greeter{})

	client, stop := serve(server)
	defer stop()
	response, err := client.Unary(ctx, &pb.TestRequest{Text: "ada"})
	fmt.Println(response.GetText(), response.GetBaseResponse().GetCode(), err)
	_, err = client.Unary(ctx, &pb.TestRequest{})
	fmt.Println(status.Code(err), status.Convert(err).Message())
	// Output:
	// hello, ada 200 <nil>
	// NotFound Not found: no such user
}

func ExampleValidate() {
	short := func(ctx context.Context, request any) error {
		if r, ok := request.(*pb.TestRequest); ok && len(r.GetText()) > 8 {
			return validation.Reject(ctx, []xvalid.FieldError{{
				Field: "text", Tag: "max", Message: "text must have at most 8 characters",
			}}, nil)
		}
		return nil
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(unary.Validate(short)))
	pb.RegisterTestServiceServer(server, greeter{})

	client, stop := serve(server)
	defer stop()
	_, err := client.Unary(context.Background(), &pb.TestRequest{Text: "a name that is too long"})
	fmt.Println(status.Code(err))
	// Output: InvalidArgument
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
