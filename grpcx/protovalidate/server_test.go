package protovalidate_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/protovalidate"
)

// orders is the service shop.Orders, whose method returns an item.
var orders = grpc.ServiceDesc{
	ServiceName: "shop.Orders",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Place",
		Handler: func(
			_ any, ctx context.Context, decode func(any) error,
			intercept grpc.UnaryServerInterceptor,
		) (any, error) {
			order := dynamicpb.NewMessage(file.Messages().ByName("Order"))
			if err := decode(order); err != nil {
				return nil, err
			}
			info := &grpc.UnaryServerInfo{FullMethod: "/shop.Orders/Place"}
			return intercept(ctx, order, info,
				func(context.Context, any) (any, error) { return message("Item", `price: 7`), nil })
		},
	}},
}

// serve starts a server with the service orders and returns a connection.
func serve(t *testing.T, interceptors ...grpc.UnaryServerInterceptor) *grpc.ClientConn {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(interceptors...))
	server.RegisterService(&orders, nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	connection, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return connection
}

func TestNew_Server(t *testing.T) {
	check := protovalidate.MustNew()
	connection := serve(t, unary.Trace(), unary.Recover(), unary.Validate(check),
		unary.ResponseBuilder())
	place := func(order proto.Message) (proto.Message, error) {
		item := message("Item", "")
		return item, connection.Invoke(t.Context(), "/shop.Orders/Place", order, item)
	}
	item, err := place(message("Order", `name: "abc"`))
	if err != nil || !proto.Equal(item, message("Item", `price: 7`)) {
		t.Errorf("response to a valid order = %v, %v", item, err)
	}
	_, err = place(message("Order", `name: "abc" items {price: 1} items {}`))
	st := status.Convert(err)
	if st.Code() != codes.InvalidArgument ||
		!strings.Contains(st.Message(), "items[1].price: must be greater than 0") {
		t.Errorf("error of an invalid order = %v, want INVALID_ARGUMENT and the field", err)
	}
	want := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: "items[1].price", Reason: "INT32_GT", Description: "must be greater than 0"},
	}}
	for _, detail := range st.Details() {
		if got, ok := detail.(*errdetails.BadRequest); ok {
			if !proto.Equal(got, want) {
				t.Errorf("violations = %v, want %v", got, want)
			}
			return
		}
	}
	t.Errorf("details = %v, want the violations", st.Details())
}
