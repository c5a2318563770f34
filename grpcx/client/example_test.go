package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/utility"
)

func ExampleDial() {
	ctx, target, stop := users() // a server
	defer stop()

	conn, err := client.Dial(target, client.WithSource("orders"), client.WithPlaintext())
	if err != nil {
		fmt.Println(err) // every problem at once
		return
	}
	defer func() { _ = conn.Close() }()

	reply, err := testproto.NewTestServiceClient(conn).UnarySafe(ctx,
		&testproto.TestRequest{Text: "ada"})
	fmt.Println(reply.GetText(), err)
	// Output: hello ada, from orders <nil>
}

func ExampleDial_errors() {
	ctx, target, stop := users()
	defer stop()
	conn, err := client.Dial(target, client.WithPlaintext())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()

	_, err = testproto.NewTestServiceClient(conn).UnarySafe(ctx, &testproto.TestRequest{})
	fmt.Println(errors.Is(err, xerror.NotExist), status.Code(err) == codes.InvalidArgument)
	var e *xerror.Error
	if errors.As(err, &e) {
		fmt.Println(e.GetErrorCode().GetOutput(), e.GetErrorMessage())
	}
	// Output:
	// true true
	// NOT_EXIST nobody has this name
}

func ExampleWithRetry() {
	_, err := client.DialOptions(
		client.WithIdempotent(testproto.TestService_Unary_FullMethodName),
		client.WithRetry(5, 50*time.Millisecond, 2*time.Second),
	)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleWithApplication() {
	_, err := client.Dial("users:1119",
		client.WithApplication("183402938112004", "cs_secret"), client.WithPlaintext())
	fmt.Println(err)
	// Output: grpcx/client: WithApplication would send its secret readable by all: choose TLS by leaving out WithPlaintext, or add WithPlaintextSecrets for development
}

func ExampleWithDialOptions() {
	conn, err := client.Dial("users:1119", client.WithDialOptions(
		grpc.WithUserAgent("orders/2.1"),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)),
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(conn.Target(), conn.Close())
	// Output: users:1119 <nil>
}

func ExampleFromError() {
	err := status.Error(codes.NotFound, "no such user") // of a client that Dial did not make
	e := client.FromError(err)
	fmt.Println(e.GetErrorCode().GetOutput(), errors.Is(e, xerror.NotFound))
	// Output: NOT_FOUND true
}

// An error of a service behind means something to the service that called, and seldom to
// the client of that one.
func ExampleDial_wrap() {
	ctx, target, stop := users()
	defer stop()
	conn, err := client.Dial(target, client.WithPlaintext())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()
	users := testproto.NewTestServiceClient(conn)

	handle := func(ctx context.Context) error {
		if _, err := users.UnarySafe(ctx, &testproto.TestRequest{Text: "root"}); err != nil {
			return xerror.Wrap(xerror.RemoteError, "the users cannot be asked", err)
		}
		return nil
	}

	err = handle(ctx)
	var e *xerror.Error
	if errors.As(err, &e) { // what the client is told
		fmt.Println(e.GetErrorCode().GetOutput(), e.GetErrorMessage())
	}
	fmt.Println(errors.Is(err, xerror.Unauthorized)) // what the log has
	// Output:
	// REMOTE_ERROR the users cannot be asked
	// true
}

// users starts a server that greets, and returns the context for a call to it.
func users() (ctx context.Context, target string, stop func()) {
	target, stop = start(&service{unary: func(ctx context.Context, r *request) (*response, error) {
		if r.GetText() == "" {
			return nil, xerror.New(xerror.NotExist, "nobody has this name")
		}
		if r.GetText() == "root" {
			return nil, xerror.New(xerror.Unauthorized, "the application's secret is wrong")
		}
		return &response{Text: "hello " + r.GetText() + ", from " + utility.Source(ctx)}, nil
	}})
	return incoming(context.Background(), "id-1", "en"), target, stop
}
