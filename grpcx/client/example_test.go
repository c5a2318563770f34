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
	ctx, target, stop := users() // starts a server
	defer stop()

	conn, err := client.Dial(target, client.WithSource("orders"), client.WithPlaintext())
	if err != nil {
		fmt.Println(err) // all problems
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
	// NOT_EXIST no such user
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
	// Output: grpcx/client: WithApplication: the secret would be sent unencrypted: remove WithPlaintext, or add WithPlaintextSecrets for development
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
	err := status.Error(codes.NotFound, "no such user") // from another client
	e := client.FromError(err)
	fmt.Println(e.GetErrorCode().GetOutput(), errors.Is(e, xerror.NotFound))
	// Output: NOT_FOUND true
}

// Wrap the error of a downstream service, because it is rarely meaningful to your client.
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
			return xerror.Wrap(xerror.RemoteError, "users service failed", err)
		}
		return nil
	}

	err = handle(ctx)
	var e *xerror.Error
	if errors.As(err, &e) { // sent to the client
		fmt.Println(e.GetErrorCode().GetOutput(), e.GetErrorMessage())
	}
	fmt.Println(errors.Is(err, xerror.Unauthorized)) // logged
	// Output:
	// REMOTE_ERROR users service failed
	// true
}

// users starts a server and returns the context for a call to it.
func users() (ctx context.Context, target string, stop func()) {
	target, stop = start(&service{unary: func(ctx context.Context, r *request) (*response, error) {
		if r.GetText() == "" {
			return nil, xerror.New(xerror.NotExist, "no such user")
		}
		if r.GetText() == "root" {
			return nil, xerror.New(xerror.Unauthorized, "the application's secret is wrong")
		}
		return &response{Text: "hello " + r.GetText() + ", from " + utility.Source(ctx)}, nil
	}})
	return incoming(context.Background(), "id-1", "en"), target, stop
}
