package utility_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/utility"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader is a service that returns the value of the metadata key in the request.
type reader struct {
	pb.UnimplementedTestServiceServer
}

func (reader) Unary(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	value, err := utility.ExtractMetadata(ctx, constant.Metadata(request.GetText()))
	if err != nil {
		return nil, err
	}
	return &pb.TestResponse{Text: value}, nil
}

func TestExtractMetadata_Server(t *testing.T) {
	client := pb.NewTestServiceClient(calltest.Serve(t, reader{}))
	for _, tc := range []struct{ name, sent, want string }{
		{"underscores", "app_secret_key", "cs_7"},
		{"dashes", "app-secret-key", "cs_7"},
		{"another key", "another", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), tc.sent, "", tc.sent, "cs_7")
			response, err := client.Unary(ctx,
				&pb.TestRequest{Text: constant.MetadataAppSecretKey.String()})
			if response.GetText() != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("response = %q, %v, want %q", response.GetText(), err, tc.want)
			}
		})
	}
}
