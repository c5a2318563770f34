package result_test

import (
	"context"
	"fmt"

	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/result"
)

// handler implements a service.
type handler struct {
	pb.UnimplementedTestServiceServer
}

func (handler) Unary(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	response := result.SuccessWith[*pb.TestResponse](ctx, "greeted")
	response.Text = "hello, " + request.GetText()
	return response, nil
}

func ExampleSuccessWith() {
	response, err := handler{}.Unary(context.Background(), &pb.TestRequest{Text: "Ada"})
	b := response.GetBaseResponse()
	fmt.Println(b.GetOutput(), b.GetCode(), b.GetMessage(), response.GetText(), err)
	// Output: Success 200 greeted hello, Ada <nil>
}

func ExampleSuccess() {
	ctx := context.Background()
	response := &pb.TestResponse{
		BaseResponse: result.Success(ctx, "greeted"),
		Text:         "hello",
	}
	fmt.Println(response.GetBaseResponse().GetMessage(), response.GetText())
	// Output: greeted hello
}
