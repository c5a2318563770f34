package runner_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// serveWith starts a standalone server with server options.
func serveWith(t *testing.T, options ...grpc.ServerOption) *standalone {
	t.Helper()
	calltest.Record(t)
	return serve(t, runner.WithServerOptions(options...))
}

func TestLimits_MessageSize(t *testing.T) {
	large := strings.Repeat("x", 5<<20)
	unlimited := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(8<<20),
		grpc.MaxCallSendMsgSize(8<<20))
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    codes.Code
	}{
		{name: "by default", want: codes.ResourceExhausted},
		{
			name: "overridden",
			options: []grpc.ServerOption{
				grpc.MaxRecvMsgSize(8 << 20), grpc.MaxSendMsgSize(8 << 20),
			},
			want: codes.OK,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serveWith(t, tc.options...)
			s.service.OnUnary = func(
				_ context.Context, request *pb.TestRequest,
			) (*pb.TestResponse, error) {
				padding := strings.Repeat("x", int(request.GetNumber()))
				return &pb.TestResponse{Text: request.GetText() + padding}, nil
			}
			client := pb.NewTestServiceClient(dial(t, s.address, unlimited))
			_, err := client.Unary(t.Context(), &pb.TestRequest{Text: large})
			if status.Code(err) != tc.want {
				t.Errorf("large request = %v, want %s", err, tc.want)
			}
			_, err = client.Unary(t.Context(), &pb.TestRequest{Number: 5 << 20})
			if status.Code(err) != tc.want {
				t.Errorf("large response = %v, want %s", err, tc.want)
			}
			_, err = client.Unary(t.Context(), &pb.TestRequest{Text: large[:3<<20]})
			if err != nil {
				t.Errorf("request of 3 MB = %v, want OK", err)
			}
		})
	}
}

func TestLimits_MetadataSize(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    bool
	}{
		{name: "by default", want: true},
		{name: "overridden", options: []grpc.ServerOption{grpc.MaxHeaderListSize(256 << 10)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serveWith(t, tc.options...)
			client := pb.NewTestServiceClient(dial(t, s.address))
			call := func(size int) error {
				large := strings.Repeat("x", size)
				ctx := metadata.AppendToOutgoingContext(t.Context(), "large", large)
				_, err := client.Unary(ctx, &pb.TestRequest{}, grpc.WaitForReady(true))
				return err
			}
			if err := call(32 << 10); err != nil {
				t.Errorf("32 KB = %v, want OK", err)
			}
			if err := call(100 << 10); (err != nil) != tc.want {
				t.Errorf("100 KB = %v, want rejected: %t", err, tc.want)
			}
		})
	}
}

func TestLimits_ConcurrentStreams(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    int64
	}{
		{name: "by default", want: 250},
		{name: "overridden", options: []grpc.ServerOption{grpc.MaxConcurrentStreams(10)}, want: 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serveWith(t, tc.options...)
			release, full := make(chan struct{}), make(chan struct{})
			var entered atomic.Int64
			s.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				if entered.Add(1) == tc.want {
					close(full)
				}
				<-release
				return &pb.TestResponse{}, nil
			}
			client := pb.NewTestServiceClient(dial(t, s.address))
			// The client receives the limit with the first call.
			call := callUnary(t.Context(), client, "first")
			calls := []<-chan error{call}
			for range tc.want + 20 {
				calls = append(calls, callUnary(t.Context(), client, "more"))
			}
			wait(t, full, "the maximum number of calls")
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := client.Unary(ctx, &pb.TestRequest{})
			if status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("call above the limit = %v, want it to wait", err)
			}
			if got := entered.Load(); got != tc.want {
				t.Errorf("concurrent calls = %d, want %d", got, tc.want)
			}
			close(release)
			for _, call := range calls {
				if err := <-call; err != nil {
					t.Errorf("call = %v, want OK after another call finished", err)
				}
			}
		})
	}
}

// idleAfter returns the lifetime of a connection that is idle after its first call.
func idleAfter(t *testing.T, options ...grpc.ServerOption) time.Duration {
	t.Helper()
	calltest.Record(t)
	var lifetime time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		conn, done := inMemory(t, ctx, &calltest.Service{}, runner.WithServerOptions(options...))
		call(t, pb.NewTestServiceClient(conn), "hello")
		synctest.Wait() // the state may change after the call returns
		started := time.Now()
		if conn.WaitForStateChange(ctx, connectivity.Ready) {
			lifetime = time.Since(started)
		}
		_ = conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return lifetime
}

func TestLimits_Keepalive(t *testing.T) {
	t.Run("closes an idle connection after 15 minutes", func(t *testing.T) {
		if got := idleAfter(t); got < 15*time.Minute || got > 16*time.Minute {
			t.Errorf("lifetime of an idle connection = %s, want 15m", got)
		}
		replaced := grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: time.Second})
		if got := idleAfter(t, replaced); got < time.Second || got > time.Minute {
			t.Errorf("lifetime of an idle connection = %s, want 1s as configured", got)
		}
	})

	t.Run("closes a connection without ping replies", func(t *testing.T) {
		calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			l := bufconn.Listen(1 << 20)
			done := make(chan error, 1)
			go func() { done <- runner.Serve(ctx, runner.WithListener(l)) }()
			conn, err := l.DialContext(ctx)
			if err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			_, err = conn.Write([]byte(http2.ClientPreface))
			if err = errors.Join(err, http2.NewFramer(conn, conn).WriteSettings()); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, conn) // does not acknowledge the ping
			if got := time.Since(started); got != 80*time.Second {
				t.Errorf("lifetime = %s, want 1m before the ping and 20s for its reply", got)
			}
			_ = conn.Close()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("replaces an old connection and continues its calls", func(t *testing.T) {
		calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			service := &calltest.Service{OnServer: func(
				_ *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse],
			) error {
				if err := stream.Send(&pb.TestResponse{}); err != nil {
					return err
				}
				<-release
				return stream.Send(&pb.TestResponse{Text: "last message"})
			}}
			conn, done := inMemory(t, ctx, service)
			client := pb.NewTestServiceClient(conn)
			stream, err := client.ServerStream(ctx, &pb.TestRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			started := time.Now()
			conn.WaitForStateChange(ctx, connectivity.Ready)
			if got := time.Since(started); got < 27*time.Minute || got > 33*time.Minute {
				t.Errorf("the connection was replaced after %s, want 30m with a jitter of a tenth",
					got)
			}
			call(t, client, "over the next connection")
			<-time.After(2 * time.Hour) // of the fake clock
			close(release)
			if response, err := stream.Recv(); err != nil || response.GetText() != "last message" {
				t.Errorf("old stream = %v, %v; want its last message", response, err)
			}
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("old stream = %v, want EOF", err)
			}
			_ = conn.Close()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("limits the pings of clients", func(t *testing.T) {
		calltest.Record(t)
		for _, tc := range []struct {
			name    string
			options []grpc.ServerOption
			want    bool // the connection stays open
		}{
			{name: "every 10 s by default", want: true},
			{
				name: "more often than an option allows",
				options: []grpc.ServerOption{
					grpc.KeepaliveEnforcementPolicy(
						keepalive.EnforcementPolicy{MinTime: time.Minute},
					),
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					conn, done := inMemory(t, ctx, &calltest.Service{},
						runner.WithServerOptions(tc.options...))
					call(t, pb.NewTestServiceClient(conn), "hello")
					synctest.Wait()
					waitCtx, cancelWait := context.WithTimeout(ctx, 10*time.Minute)
					defer cancelWait()
					changed := conn.WaitForStateChange(waitCtx, connectivity.Ready)
					if changed == tc.want {
						t.Errorf("connection closed: %t, want %t", changed, !tc.want)
					}
					_ = conn.Close()
					cancel()
					if err := <-done; err != nil {
						t.Error(err)
					}
				})
			})
		}
	})
}
