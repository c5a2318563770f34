package runner_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// standalone is a server outside an application.
type standalone struct {
	t       *testing.T
	address string
	service *calltest.Service
	cancel  context.CancelFunc
	done    chan error
}

// serve serves the test service outside an application until the test completes.
func serve(t *testing.T, options ...runner.Option) *standalone {
	t.Helper()
	l := listen(t)
	s := &standalone{
		t: t, address: l.Addr().String(),
		service: &calltest.Service{}, done: make(chan error, 1),
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s.cancel = cancel
	options = append([]runner.Option{
		runner.WithListener(l),
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, s.service)
		}),
	}, options...)
	go func() { s.done <- runner.Serve(ctx, options...) }()
	t.Cleanup(func() {
		if s.cancel != nil {
			_ = s.stop()
		}
	})
	return s
}

// stop cancels the context and returns the result of Serve.
func (s *standalone) stop() error {
	s.t.Helper()
	s.cancel()
	s.cancel = nil
	select {
	case err := <-s.done:
		return err
	case <-time.After(testTimeout):
		s.t.Fatal("Serve did not return")
		return nil
	}
}

func TestServe(t *testing.T) {
	t.Run("serves until its context is canceled", func(t *testing.T) {
		calltest.Record(t)
		s := serve(t)
		conn := dial(t, s.address)
		if got := call(t, pb.NewTestServiceClient(conn), "hello").GetText(); got != "hello" {
			t.Errorf("response = %q, want hello", got)
		}
		if got := check(t, conn, serviceName); got != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health = %s, want SERVING", got)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		waitRefused(t, s.address)
	})

	t.Run("does nothing with a canceled context", func(t *testing.T) {
		calltest.Record(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l := listen(t)
		if err := runner.Serve(ctx, runner.WithListener(l)); err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
		waitRefused(t, l.Addr().String())
		for _, host := range []string{"127.0.0.1", "localhost"} {
			t.Setenv(xenv.Host.String(), host)
			t.Setenv("GRPC_PORT", "0")
			if err := runner.Serve(ctx); err != nil {
				t.Errorf("Serve on %s = %v, want nil", host, err)
			}
		}
	})

	t.Run("rejects an invalid port", func(t *testing.T) {
		for _, port := range []string{"abc", "-1", "65536"} {
			t.Setenv(xenv.Host.String(), "127.0.0.1")
			t.Setenv("GRPC_PORT", port)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := runner.Serve(ctx); err == nil || !strings.Contains(err.Error(), "GRPC_PORT") {
				t.Errorf("Serve with port %s = %v, want GRPC_PORT in the error", port, err)
			}
		}
	})

	t.Run("waits for in-flight calls", func(t *testing.T) {
		calltest.Record(t)
		s := serve(t)
		entered, release := make(chan struct{}), make(chan struct{})
		s.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			close(entered)
			<-release
			return &pb.TestResponse{}, ctx.Err()
		}
		got := callUnary(t.Context(), pb.NewTestServiceClient(dial(t, s.address)), "slow")
		wait(t, entered, "the call")
		s.cancel()
		waitRefused(t, s.address)
		close(release)
		if err := <-got; err != nil {
			t.Errorf("call in flight = %v, want OK", err)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestNew_OutsideApplication(t *testing.T) {
	log := calltest.Record(t)
	runner.New(runner.WithGracefulStopTimeout(0))(t.Context())
	line := log.Only("gRPC server failed")
	if text, _ := line["error"].(string); !strings.Contains(text, "WithGracefulStopTimeout") ||
		line["level"] != "error" {
		t.Errorf("line = %v, want the error", line)
	}
}

// failingListener is a listener that fails on request.
type failingListener struct {
	net.Listener
	fail chan struct{}
}

var errListener = errors.New("listener failed")

func (l failingListener) Accept() (net.Conn, error) {
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Listener.Accept(); err == nil {
			accepted <- conn
		}
	}()
	select {
	case conn := <-accepted:
		return conn, nil
	case <-l.fail:
		_ = l.Close()
		return nil, errListener
	}
}

func TestServe_ListenerFailure(t *testing.T) {
	t.Run("shuts the application down immediately", func(t *testing.T) {
		l := failingListener{Listener: listen(t), fail: make(chan struct{})}
		a := prepare(t, fixture{runner: []runner.Option{runner.WithListener(l)}})
		entered := make(chan struct{})
		a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			close(entered)
			// If the server waited for this call before it reports the error, draining
			// would never start.
			<-a.Lifecycle().Draining()
			return &pb.TestResponse{}, nil
		}
		a.address = l.Addr().String()
		a.start()
		got := callUnary(t.Context(), a.client(), "slow")
		wait(t, entered, "the call")
		close(l.fail)
		if err := <-got; err != nil {
			t.Errorf("call in flight = %v, want OK", err)
		}
		err := a.result()
		if !errors.Is(err, errListener) || strings.Count(err.Error(), errListener.Error()) != 1 {
			t.Errorf("RunContext = %v, want the listener's error once", err)
		}
	})

	t.Run("is returned by Serve", func(t *testing.T) {
		calltest.Record(t)
		l := failingListener{Listener: listen(t), fail: make(chan struct{})}
		close(l.fail)
		if err := runner.Serve(t.Context(), runner.WithListener(l)); !errors.Is(err, errListener) {
			t.Errorf("Serve = %v, want the listener's error", err)
		}
	})
}

// inMemory serves over memory in a synctest bubble.
func inMemory(
	t *testing.T, ctx context.Context, service *calltest.Service, options ...runner.Option,
) (*grpc.ClientConn, <-chan error) {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	done := make(chan error, 1)
	options = append(options, runner.WithListener(l),
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, service)
		}))
	go func() { done <- runner.Serve(ctx, options...) }()
	conn, err := grpc.NewClient("passthrough:///memory",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 10 * time.Second, PermitWithoutStream: true,
		}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return l.DialContext(ctx)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, done
}

func TestServe_GracefulStop(t *testing.T) {
	t.Run("force closes calls after 30 seconds", func(t *testing.T) {
		log := calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			entered := make(chan struct{})
			service := &calltest.Service{OnUnary: func(
				ctx context.Context, _ *pb.TestRequest,
			) (*pb.TestResponse, error) {
				close(entered)
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			conn, done := inMemory(t, ctx, service)
			got := callUnary(t.Context(), pb.NewTestServiceClient(conn), "slow")
			<-entered
			started := time.Now()
			cancel()
			err := <-done
			if err == nil || !strings.Contains(err.Error(), "1 unary calls force closed") {
				t.Errorf("Serve = %v, want the number of force closed calls", err)
			}
			if elapsed := time.Since(started); elapsed != 30*time.Second {
				t.Errorf("the shutdown took %s, want 30s", elapsed)
			}
			if err := <-got; status.Code(err) != codes.Unavailable &&
				status.Code(err) != codes.Canceled {
				t.Errorf("call = %v, want UNAVAILABLE or CANCELLED", err)
			}
			_ = conn.Close()
		})
		if line := log.Only("call"); line["status"] != "CANCELLED" {
			t.Errorf("line = %v, want the status CANCELLED", line)
		}
	})

	t.Run("waits for the first message until its timeout", func(t *testing.T) {
		calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			conn, done := inMemory(t, ctx, &calltest.Service{})
			// NewStream sends the headers only.
			stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true},
				pb.TestService_Unary_FullMethodName)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			started := time.Now()
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Serve = %v, want nil because no handler received the call", err)
			}
			if elapsed := time.Since(started); elapsed != 10*time.Second {
				t.Errorf("the shutdown took %s, want the 10s timeout of the first message", elapsed)
			}
			err = stream.RecvMsg(&pb.TestResponse{})
			if status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("call = %v, want DEADLINE_EXCEEDED", err)
			}
			_ = conn.Close()
		})
	})
}
