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

// limited serves with server options, outside of an application.
func limited(t *testing.T, options ...grpc.ServerOption) *alone {
	t.Helper()
	calltest.Record(t)
	return serve(t, runner.WithServerOptions(options...))
}

func TestMessageOver4MBIsResourceExhausted(t *testing.T) {
	large := strings.Repeat("x", 5<<20)
	unlimited := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(8<<20),
		grpc.MaxCallSendMsgSize(8<<20))
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    codes.Code
	}{
		{name: "by default", want: codes.ResourceExhausted},
		{name: "overridden", options: []grpc.ServerOption{
			grpc.MaxRecvMsgSize(8 << 20),
			grpc.MaxSendMsgSize(8 << 20),
		}, want: codes.OK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := limited(t, tc.options...)
			s.service.OnUnary = func(_ context.Context, request *pb.TestRequest) (*pb.TestResponse,
				error,
			) {
				return &pb.TestResponse{Text: request.GetText() + strings.Repeat("x",
					int(request.GetNumber()))}, nil
			}
			client := pb.NewTestServiceClient(dial(t, s.address, unlimited))
			if _, err := client.Unary(t.Context(),
				&pb.TestRequest{Text: large}); status.Code(err) != tc.want {
				t.Errorf("large request = %v, want %s", err, tc.want)
			}
			if _, err := client.Unary(t.Context(),
				&pb.TestRequest{Number: 5 << 20}); status.Code(err) != tc.want {
				t.Errorf("large response = %v, want %s", err, tc.want)
			}
			if _, err := client.Unary(t.Context(),
				&pb.TestRequest{Text: large[:3<<20]}); err != nil {
				t.Errorf("request of 3 MB = %v, want OK", err)
			}
		})
	}
}

func TestMetadataOver64KBIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    bool
	}{
		{name: "by default", want: true},
		{name: "overridden", options: []grpc.ServerOption{grpc.MaxHeaderListSize(256 << 10)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := limited(t, tc.options...)
			client := pb.NewTestServiceClient(dial(t, s.address))
			ask := func(size int) error {
				ctx := metadata.AppendToOutgoingContext(t.Context(), "large",
					strings.Repeat("x", size))
				_, err := client.Unary(ctx, &pb.TestRequest{}, grpc.WaitForReady(true))
				return err
			}
			if err := ask(32 << 10); err != nil {
				t.Errorf("32 KB = %v, want OK", err)
			}
			if err := ask(100 << 10); (err != nil) != tc.want {
				t.Errorf("100 KB = %v, refused should be %t", err, tc.want)
			}
		})
	}
}

func TestStreamsBeyondTheLimitOfAConnectionWait(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    int64
	}{
		{name: "by default", want: 250},
		{name: "overridden", options: []grpc.ServerOption{grpc.MaxConcurrentStreams(10)}, want: 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := limited(t, tc.options...)
			goOn, full := make(chan struct{}), make(chan struct{})
			var entered atomic.Int64
			s.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				if entered.Add(1) == tc.want {
					close(full)
				}
				<-goOn
				return &pb.TestResponse{}, nil
			}
			client := pb.NewTestServiceClient(dial(t, s.address))
			// the client learns the limit with the first call
			call := callUnary(t.Context(), client, "first")
			calls := []<-chan error{call}
			for range tc.want + 20 {
				calls = append(calls, callUnary(t.Context(), client, "more"))
			}
			wait(t, full, "as many calls as the limit")
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := client.Unary(ctx,
				&pb.TestRequest{}); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("one more call = %v, want it to wait", err)
			}
			if got := entered.Load(); got != tc.want {
				t.Errorf("%d calls at the same time, want %d", got, tc.want)
			}
			close(goOn)
			for _, call := range calls {
				if err := <-call; err != nil {
					t.Errorf("call = %v, want OK in its turn", err)
				}
			}
		})
	}
}

// idleAfter returns how long a connection lives that carries no call after the first.
func idleAfter(t *testing.T, options ...grpc.ServerOption) time.Duration {
	t.Helper()
	calltest.Record(t)
	var lived time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		conn, done := inMemory(t, ctx, &calltest.Service{}, runner.WithServerOptions(options...))
		call(t, pb.NewTestServiceClient(conn), "hello")
		synctest.Wait() // the call may be done before the state says so
		began := time.Now()
		if conn.WaitForStateChange(ctx, connectivity.Ready) {
			lived = time.Since(began)
		}
		_ = conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return lived
}

func TestIdleConnectionIsClosedAfter15Minutes(t *testing.T) {
	if got := idleAfter(t); got < 15*time.Minute || got > 16*time.Minute {
		t.Errorf("idle connection lived %s, want 15m", got)
	}
	replaced := grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: time.Second})
	if got := idleAfter(t, replaced); got < time.Second || got > time.Minute {
		t.Errorf("idle connection lived %s, want the second of the option", got)
	}
}

func TestConnectionWhosePeerHasVanishedIsClosed(t *testing.T) {
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
		began := time.Now()
		_, err = conn.Write([]byte(http2.ClientPreface))
		if err = errors.Join(err, http2.NewFramer(conn, conn).WriteSettings()); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn) // and it answers no ping
		if got := time.Since(began); got != 80*time.Second {
			t.Errorf("the connection lived %s, want the minute before the ping and the 20s for its answer", got)
		}
		_ = conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestOldConnectionIsReplacedAndItsCallsGoOn(t *testing.T) {
	calltest.Record(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		goOn := make(chan struct{})
		service := &calltest.Service{OnServer: func(_ *pb.TestRequest,
			stream grpc.ServerStreamingServer[pb.TestResponse],
		) error {
			if err := stream.Send(&pb.TestResponse{}); err != nil {
				return err
			}
			<-goOn
			return stream.Send(&pb.TestResponse{Text: "still here"})
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
		began := time.Now()
		conn.WaitForStateChange(ctx, connectivity.Ready)
		if got := time.Since(began); got < 27*time.Minute || got > 33*time.Minute {
			t.Errorf("the connection was replaced after %s, want 30m and a tenth", got)
		}
		call(t, client, "over the next connection")
		// of the bubble: what is claimed is that nothing ends the stream
		<-time.After(2 * time.Hour)
		close(goOn)
		if answer, err := stream.Recv(); err != nil || answer.GetText() != "still here" {
			t.Errorf("old stream = %v, %v; want its last message", answer, err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("old stream = %v, want its end", err)
		}
		_ = conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestClientsThatAskForASignOfLifeOften(t *testing.T) {
	calltest.Record(t)
	for _, tc := range []struct {
		name    string
		options []grpc.ServerOption
		want    bool // the connection lives
	}{
		{name: "every 10 s by default", want: true},
		{name: "more often than an option allows", options: []grpc.ServerOption{
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Minute}),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				conn, done := inMemory(t, ctx, &calltest.Service{},
					runner.WithServerOptions(tc.options...))
				call(t, pb.NewTestServiceClient(conn), "hello")
				synctest.Wait()
				within, over := context.WithTimeout(ctx, 10*time.Minute)
				defer over()
				if changed := conn.WaitForStateChange(within,
					connectivity.Ready); changed == tc.want {
					t.Errorf("the connection was cut off: %t, want %t", changed, !tc.want)
				}
				_ = conn.Close()
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
