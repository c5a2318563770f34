package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestServe_GRPCLog(t *testing.T) {
	log := calltest.Record(t) // the global log
	a := prepare(t, fixture{})
	a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		return &pb.TestResponse{Text: "\xff"}, nil // invalid UTF-8 cannot be encoded
	}
	a.start()
	if _, err := a.client().Unary(t.Context(), &pb.TestRequest{}); err == nil {
		t.Fatal("the call succeeded, want an encoding error")
	}
	line := log.Await("grpc-go")
	if text, _ := line["error"].(string); line["level"] != "error" ||
		!strings.Contains(text, "failed to encode response") {
		t.Errorf("line = %v, want the encoding error at level error", line)
	}
}
