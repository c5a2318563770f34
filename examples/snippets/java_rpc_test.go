package snippets_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// javaUsers returns an error that contains the source and the request ID.
type javaUsers struct {
	userv1.UnimplementedUserServiceServer
}

// Get implements userv1.UserServiceServer.
func (javaUsers) Get(ctx context.Context, _ *userv1.GetRequest) (*userv1.GetResponse, error) {
	return nil, xerror.New(xerror.NotExist,
		xerror.ErrMessage(utility.Source(ctx)+" "+utility.RequestUUID(ctx)))
}

func TestJavaCall(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(
		unary.Trace(), unary.Recover(), unary.Validate(), unary.ResponseBuilder(),
	))
	userv1.RegisterUserServiceServer(server, javaUsers{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()

	call := func(ctx context.Context, target string, id int64) error {
		conn, err := client.Dial(target, client.WithSource("orders"), client.WithPlaintext())
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_, err = userv1.NewUserServiceClient(conn).Get(ctx, &userv1.GetRequest{Id: id})
		if errors.Is(err, xerror.NotExist) {
			return fmt.Errorf("user %d: %w", id, err)
		}
		return err
	}
	ctx := context.WithValue(t.Context(), xctx.RequestKey, "gateway-7")
	var e *xerror.Error
	if err := call(ctx, listener.Addr().String(), 7); !errors.As(err, &e) ||
		e.GetErrorMessage() != "orders gateway-7" {
		t.Errorf("call = %v, want the source and the request ID", err)
	}
	err = call(ctx, listener.Addr().String(), 0)
	if !errors.As(err, &e) || !errors.Is(err, xerror.ParameterError) {
		t.Fatalf("call = %v, want a PARAMETER_ERROR", err)
	}
	t.Logf("%v %+v", e.GetErrorMessage(), e.GetData())
}
