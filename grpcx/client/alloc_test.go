package client_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/client"
)

// noop is an invoker that does nothing.
func noop(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
	return nil
}

// requestContext returns the context of a server's request with ID, language and
// deadline.
func requestContext(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Hour)
	tb.Cleanup(cancel)
	return incoming(ctx, "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "zh-CN,zh;q=0.9")
}

// The limits are sums. Adding outgoing metadata costs four allocations (the copied pairs,
// the list of copies, its container, the context), a timeout four, and a generated ID
// three. grpc also copies existing outgoing metadata, which costs five for one pair.
func TestInterceptors_Allocations(t *testing.T) {
	unary, _ := client.Interceptors("orders")
	inRequest := requestContext(t)
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want float64
	}{
		{name: "within a request", ctx: inRequest, want: 4},
		{
			name: "within a request without a deadline",
			ctx:  incoming(t.Context(), "id", "zh"),
			want: 8,
		},
		{name: "outside a request", ctx: t.Context(), want: 11},
		{
			name: "with metadata",
			ctx:  metadata.AppendToOutgoingContext(inRequest, "other", "a"),
			want: 7,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := testing.AllocsPerRun(200, func() {
				if err := unary(tc.ctx, "/pkg.Service/Method", nil, nil, nil, noop); err != nil {
					t.Error(err)
				}
			})
			if !raceEnabled && got > tc.want {
				t.Errorf("allocations = %v, want at most %v", got, tc.want)
			}
		})
	}
}

// BenchmarkUnary compares the interceptor with a bare call.
func BenchmarkUnary(b *testing.B) {
	unary, _ := client.Interceptors("orders")
	inRequest := requestContext(b)
	withMetadata := metadata.AppendToOutgoingContext(inRequest, "other", "a")
	run := func(name string, ctx context.Context, call func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	intercepted := func(ctx context.Context) error {
		return unary(ctx, "/pkg.Service/Method", nil, nil, nil, noop)
	}
	run("bare", inRequest, func(ctx context.Context) error {
		return noop(ctx, "/pkg.Service/Method", nil, nil, nil)
	})
	run("metadata only", inRequest, func(ctx context.Context) error {
		ctx = metadata.AppendToOutgoingContext(ctx, "x_request_uuid", "id", "x_request_source",
			"orders", "accept-language", "zh")
		return noop(ctx, "/pkg.Service/Method", nil, nil, nil)
	})
	run("within a request", inRequest, intercepted)
	run("with metadata", withMetadata, intercepted)
	run("outside a request", b.Context(), intercepted)
}

// BenchmarkStream measures the opening of a stream.
func BenchmarkStream(b *testing.B) {
	_, stream := client.Interceptors("orders")
	inRequest := requestContext(b)
	open := func(
		context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		return nil, nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stream(inRequest, nil, nil, "/pkg.Service/Method", open); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall measures a call to a loopback server with and without this package.
func BenchmarkCall(b *testing.B) {
	quiet(b)
	address, _ := serve(b, &service{unary: func(context.Context, *request) (*response, error) {
		return &response{}, nil
	}}, loopback)
	for name, testClient := range map[string]testClient{
		"plinth": dial(b, address),
		"grpc":   dialGRPC(b, address),
	} {
		b.Run(name, func(b *testing.B) {
			ctx := requestContext(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := testClient.Unary(ctx, &request{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
