package runner_test

import (
	"context"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xHook "github.com/plinthgo/plinth/core/major/xhook"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xGrpcIUnary "github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	xGrpcRunner "github.com/plinthgo/plinth/grpcx/runner"
)

// newService stands for the application's own service.
func newService(context.Context) pb.TestServiceServer { return &calltest.Service{} }

// main is a whole program; the examples below end by themselves.
func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithHealth())
	xMain.Runner(reg, nil, nil, xGrpcRunner.New(xGrpcRunner.WithRegisterService(register)))
}

// register adds the application's services.
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
	reg, err := xReg.New(ctx, nil,
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := func(ctx context.Context, _ ...any) {
		<-xHook.Readied(ctx)
		conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer conn.Close() //nolint:errcheck // the program ends
		health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		fmt.Println(health.GetStatus(), err)
		answer, err := pb.NewTestServiceClient(conn).Unary(ctx, &pb.TestRequest{Text: "hello"})
		fmt.Println(answer.GetText(), answer.GetBaseResponse().GetOutput(), err)
		stop() // as SIGTERM would
	}
	fmt.Println(xMain.RunContext(ctx, reg, nil, nil, client, xGrpcRunner.New(
		xGrpcRunner.WithListener(listener),
		xGrpcRunner.WithRegisterService(register),
	)))
	// Output:
	// SERVING <nil>
	// hello Success <nil>
	// <nil>
}

func ExampleWithUnaryInterceptors() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // a program ends it when it has been told to stop
	fmt.Println(xGrpcRunner.Serve(ctx, xGrpcRunner.WithRegisterService(register), xGrpcRunner.WithUnaryInterceptors(
		xGrpcIUnary.InitContext(ctx), xGrpcIUnary.Recover(), xGrpcIUnary.Middleware(), xGrpcIUnary.ResponseBuilder())))
	// Output: <nil>
}

func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // a program ends it when it has been told to stop
	fmt.Println(xGrpcRunner.Serve(ctx, xGrpcRunner.WithRegisterService(register)))
	// Output: <nil>
}
