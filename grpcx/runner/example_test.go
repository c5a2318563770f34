package runner_test

import (
	"context"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// newService represents the application's service.
func newService(context.Context) pb.TestServiceServer { return &calltest.Service{} }

// main is a complete program. The examples below stop by themselves.
func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithHealth())
	xmain.Runner(reg, nil, nil, runner.New(runner.WithRegisterService(register)))
}

// register registers the application's services.
func register(ctx context.Context, registrar grpc.ServiceRegistrar) {
	pb.RegisterTestServiceServer(registrar, newService(ctx))
}

var _ = main

func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a program would use GRPC_PORT
	if err != nil {
		fmt.Println(err)
		return
	}
	reg, err := xreg.New(ctx, nil,
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := func(ctx context.Context, _ ...any) {
		<-xhook.Ready(ctx)
		conn, err := grpc.NewClient(listener.Addr().String(),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer conn.Close() //nolint:errcheck // the program exits
		health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		fmt.Println(health.GetStatus(), err)
		response, err := pb.NewTestServiceClient(conn).Unary(ctx, &pb.TestRequest{Text: "hello"})
		fmt.Println(response.GetText(), response.GetBaseResponse().GetOutput(), err)
		stop() // like SIGTERM
	}
	fmt.Println(xmain.RunContext(ctx, reg, nil, nil, client, runner.New(
		runner.WithListener(listener),
		runner.WithRegisterService(register),
	)))
	// Output:
	// SERVING <nil>
	// hello Success <nil>
	// <nil>
}

func ExampleWithUnaryInterceptors() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // a program cancels it on shutdown
	fmt.Println(runner.Serve(ctx, runner.WithRegisterService(register),
		runner.WithUnaryInterceptors(
			unary.InitContext(ctx), unary.Recover(), unary.Middleware(), unary.ResponseBuilder())))
	// Output: <nil>
}

func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // a program cancels it on shutdown
	fmt.Println(runner.Serve(ctx, runner.WithRegisterService(register)))
	// Output: <nil>
}
