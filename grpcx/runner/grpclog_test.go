package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestWhatGrpcGoFindsAfterTheInterceptorsIsInTheLog(t *testing.T) {
	log := calltest.Record(t) // of the process, not of the application
	a := prepare(t, fixture{})
	a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		return &pb.TestResponse{Text: "\xff"}, nil // no UTF-8, so it cannot be encoded
	}
	a.start()
	if _, err := a.client().Unary(t.Context(), &pb.TestRequest{}); err == nil {
		t.Fatal("the response was sent")
	}
	line := log.Await("grpc-go")
	if text, _ := line["error"].(string); line["level"] != "error" ||
		!strings.Contains(text, "failed to encode response") {
		t.Errorf("line = %v", line)
	}
}
