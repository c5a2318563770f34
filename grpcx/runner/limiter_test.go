package runner_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// openWithoutMessage starts a call without sending its message.
func openWithoutMessage(t *testing.T, conn *grpc.ClientConn, method string) grpc.ClientStream {
	t.Helper()
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := conn.NewStream(t.Context(), desc, "/"+serviceName+"/"+method)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestWithFirstMessageTimeout(t *testing.T) {
	calltest.Record(t)
	for _, tc := range []struct {
		name    string
		method  string
		options []runner.Option
		want    time.Duration // 0: the call continues
	}{
		{name: "unary call by default", method: "Unary", want: 10 * time.Second},
		{name: "server stream by default", method: "ServerStream", want: 10 * time.Second},
		{name: "client stream", method: "BidiStream"},
		{
			name: "option", method: "Unary",
			options: []runner.Option{runner.WithFirstMessageTimeout(time.Minute)},
			want:    time.Minute,
		},
		{
			name: "no limit", method: "Unary",
			options: []runner.Option{runner.WithFirstMessageTimeout(0)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				service := &calltest.Service{OnUnary: func(
					context.Context, *pb.TestRequest,
				) (*pb.TestResponse, error) {
					<-time.After(time.Hour) // no limit applies after the message has arrived
					return &pb.TestResponse{}, nil
				}}
				conn, done := inMemory(t, ctx, service, tc.options...)
				complete := callUnary(ctx, pb.NewTestServiceClient(conn), "slow")
				synctest.Wait()
				started := time.Now()
				result := make(chan error, 1)
				stream := openWithoutMessage(t, conn, tc.method)
				go func() { result <- stream.RecvMsg(&pb.TestResponse{}) }()
				select {
				case err := <-result:
					elapsed := time.Since(started)
					if status.Code(err) != codes.DeadlineExceeded || elapsed != tc.want {
						t.Errorf("call without a message = %v after %s, "+
							"want DEADLINE_EXCEEDED after %s", err, elapsed, tc.want)
					}
				case <-time.After(30 * time.Minute):
					if tc.want != 0 {
						t.Errorf("the call is in flight, want DEADLINE_EXCEEDED after %s", tc.want)
					}
				}
				if err := <-complete; err != nil {
					t.Errorf("call whose message arrived = %v, want OK", err)
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

func TestWithMaxConnections(t *testing.T) {
	log := calltest.Record(t)
	s := serve(t, runner.WithMaxConnections(2))
	first, second := dial(t, s.address), dial(t, s.address)
	call(t, pb.NewTestServiceClient(first), "one")
	call(t, pb.NewTestServiceClient(second), "two")
	third := pb.NewTestServiceClient(dial(t, s.address))
	_, err := third.Unary(t.Context(), &pb.TestRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("third connection = %v, want UNAVAILABLE", err)
	}
	log.Only("connection rejected: too many open connections")
	call(t, pb.NewTestServiceClient(first), "still served")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	for {
		_, err := third.Unary(ctx, &pb.TestRequest{}, grpc.WaitForReady(true))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("third connection after another was closed = %v, want OK", err)
		}
	}
}

func TestWithMaxInflightBytes(t *testing.T) {
	log := calltest.Record(t)
	s := serve(t, runner.WithMaxInflightBytes(6<<20), runner.WithFirstMessageTimeout(0))
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	wait, err := attack(ctx, s.address, testMethod("Unary"), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	defer cancel()
	client := pb.NewTestServiceClient(dial(t, s.address))
	large := strings.Repeat("x", 1<<20)
	for range 20 {
		if _, err := client.Unary(ctx, &pb.TestRequest{Text: large}); err != nil {
			t.Fatalf("complete message of another connection = %v, want OK", err)
		}
	}
	for ctx.Err() == nil &&
		!strings.Contains(log.String(), "too many bytes of incomplete messages") {
		call(t, client, "more")
	}
	log.Only("calls canceled: too many bytes of incomplete messages")
}

// The limiter must not retain canceled calls.
func TestWithMaxInflightBytes_CanceledCalls(t *testing.T) {
	calltest.Record(t)
	s := serve(t, runner.WithMaxInflightBytes(2<<20), runner.WithFirstMessageTimeout(0))
	conn := dial(t, s.address)
	client := pb.NewTestServiceClient(conn)
	text := strings.Repeat("x", 1<<20)
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		desc := &grpc.StreamDesc{ClientStreams: true}
		if _, err := conn.NewStream(ctx, desc, "/"+serviceName+"/Unary"); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for range 10 {
		if _, err := client.Unary(t.Context(), &pb.TestRequest{Text: text}); err != nil {
			t.Fatalf("call after canceled ones = %v, want OK", err)
		}
	}
}

func TestServe_LimitVariables(t *testing.T) {
	for _, key := range []xenv.EnvKey{
		"GRPC_MAX_CONNECTIONS", "GRPC_MAX_STREAMS", "GRPC_MAX_INFLIGHT_BYTES",
		"GRPC_FIRST_MESSAGE_TIMEOUT",
	} {
		t.Run(key.String(), func(t *testing.T) {
			t.Setenv(key.String(), "-1")
			l := listen(t)
			err := runner.Serve(t.Context(), runner.WithListener(l))
			if err == nil || !strings.Contains(err.Error(), key.String()) {
				t.Errorf("error = %v, want one that contains %s", err, key)
			}
		})
	}
}
