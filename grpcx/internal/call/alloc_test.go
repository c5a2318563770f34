//go:build !race

package call_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/result"
)

func engineAt(tb testing.TB, level slog.Level) *xlog.Engine {
	tb.Helper()
	e, err := xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON, Level: level})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// chains are calls of the fused chain with the maximum number of allocations.
var chains = []struct {
	name  string
	level slog.Level
	pairs []string
	want  float64
}{
	{name: "no line", level: slog.LevelError, want: 2},
	{name: "a line", level: slog.LevelInfo, want: 2},
	{
		name: "the caller's id", level: slog.LevelInfo,
		pairs: []string{"x_request_uuid", "abc"},
		want:  1,
	},
	{
		name: "the caller's id with dashes", level: slog.LevelInfo,
		pairs: []string{
			"x-request-uuid", "abc", "x_request_source", "shop", "accept-language", "en",
		},
		want: 1,
	},
}

// newCall returns a function that runs the fused chain without a server.
func newCall(tb testing.TB, level slog.Level, pairs []string) func() {
	tb.Helper()
	info := &grpc.UnaryServerInfo{FullMethod: unaryMethod}
	response := &pb.TestResponse{BaseResponse: &generate.BaseResponse{}}
	handler := func(ctx context.Context, _ any) (any, error) { return response, ctx.Err() }
	chain := call.Unary(all, call.Config{
		App:      context.Background(),
		Log:      engineAt(tb, level).WithName(xlog.NamedGRPC),
		InFlight: new(call.InFlight),
	})
	ctx, request := incoming(tb.Context(), pairs...), any(&pb.TestRequest{})
	return func() {
		if _, err := chain(ctx, request, info, handler); err != nil {
			tb.Fatal(err)
		}
	}
}

// The exchange is one allocation, a generated ID is another.
func TestUnary_Allocations(t *testing.T) {
	for _, tc := range chains {
		t.Run(tc.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(1000, newCall(t, tc.level, tc.pairs)); got > tc.want {
				t.Errorf("allocations = %v, want at most %v", got, tc.want)
			}
		})
	}
}

func BenchmarkChain(b *testing.B) {
	for _, tc := range chains {
		b.Run(tc.name, func(b *testing.B) {
			do := newCall(b, tc.level, tc.pairs)
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// BenchmarkResponse compares ways to create a response. The case "completed" includes the
// start of the call.
func BenchmarkResponse(b *testing.B) {
	ctx := incoming(b.Context())
	complete := call.Unary(call.Respond, call.Config{})
	info := &grpc.UnaryServerInfo{FullMethod: unaryMethod}
	var response *pb.TestResponse
	for _, tc := range []struct {
		name string
		make func()
	}{
		{name: "by hand", make: func() {
			response = &pb.TestResponse{BaseResponse: &generate.BaseResponse{
				Output: "Success", Code: 200, Message: "done",
			}}
		}},
		{name: "SuccessWith", make: func() {
			response = result.SuccessWith[*pb.TestResponse](ctx, "done")
		}},
		{name: "completed", make: func() {
			_, _ = complete(ctx, nil, info,
				func(context.Context, any) (any, error) { return response, nil })
		}},
		{name: "nothing to complete", make: func() {
			_, _ = complete(ctx, nil, info,
				func(context.Context, any) (any, error) { return info, nil })
		}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tc.make()
			}
		})
	}
}
