package protovalidate_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/protovalidate"
)

func ExampleNew() {
	check, err := protovalidate.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = check(context.Background(), message("Order", `name: "abc" items {price: 1} items {}`))
	fmt.Println(xerror.From(err).GetData())
	// Output: [{items[1].price int32.gt must be greater than 0}]
}

func ExampleMustNew() {
	check := protovalidate.MustNew()
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(
		unary.Trace(), unary.Recover(), unary.Validate(check), unary.ResponseBuilder(),
	))
	defer server.Stop()
	// Output:
}
