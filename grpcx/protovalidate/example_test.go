package protovalidate_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xGrpcIUnary "github.com/plinthgo/plinth/grpcx/interceptor/unary"
	xGrpcProtoValidate "github.com/plinthgo/plinth/grpcx/protovalidate"
)

func ExampleNew() {
	check, err := xGrpcProtoValidate.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = check(context.Background(), message("Order", `name: "abc" items {price: 1} items {}`))
	fmt.Println(xError.From(err).GetData())
	// Output: [{items[1].price int32.gt must be greater than 0}]
}

func ExampleMustNew() {
	check := xGrpcProtoValidate.MustNew(xGrpcProtoValidate.WithMessages(message("Order", "")))
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(
		xGrpcIUnary.Trace(), xGrpcIUnary.Recover(), xGrpcIUnary.Validate(check), xGrpcIUnary.ResponseBuilder(),
	))
	defer server.Stop()
	// Output:
}

func ExampleWithServices() {
	// file is the variable File_… of the generated code. One of its messages has rules that do not compile.
	_, err := xGrpcProtoValidate.New(xGrpcProtoValidate.WithServices(file))
	fmt.Println(err != nil)
	// Output: true
}
