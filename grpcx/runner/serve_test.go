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

// alone is a server outside of an application.
type alone struct {
	t       *testing.T
	address string
	service *calltest.Service
	cancel  context.CancelFunc
	done    chan error
}

// serve serves the test service outside of an application until the test ends.
func serve(t *testing.T, options ...runner.Option) *alone {
	t.Helper()
	l := listen(t)
	s := &alone{
		t: t, address: l.Addr().String(), service: &calltest.Service{},
		done: make(chan error, 1),
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

// stop ends the context and returns what Serve does.
func (s *alone) stop() error {
	s.t.Helper()
	s.cancel()
	s.cancel = nil
	select {
	case err := <-s.done:
		return err
	case <-time.After(patience):
		s.t.Fatal("Serve does not return")
		return nil
	}
}

func TestServeServesUntilItsContextEnds(t *testing.T) {
	calltest.Record(t)
	s := serve(t)
	conn := dial(t, s.address)
	if got := call(t, pb.NewTestServiceClient(conn), "hello").GetText(); got != "hello" {
		t.Errorf("answer = %q, want hello", got)
	}
	if got := check(t, conn, serviceName); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health = %s, want SERVING", got)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	refused(t, s.address)
}

func TestServeWithAContextThatHasEndedServesNothing(t *testing.T) {
	calltest.Record(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := listen(t)
	if err := runner.Serve(ctx, runner.WithListener(l)); err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	refused(t, l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Setenv(xenv.Host.String(), host)
		t.Setenv("GRPC_PORT", "0")
		if err := runner.Serve(ctx); err != nil {
			t.Errorf("Serve on %s = %v, want nil", host, err)
		}
	}
}

func TestServeRefusesAWrongPort(t *testing.T) {
	for _, port := range []string{"abc", "-1", "65536"} {
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", port)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := runner.Serve(ctx); err == nil || !strings.Contains(err.Error(), "GRPC_PORT") {
			t.Errorf("Serve with port %s = %v, want the variable named", port, err)
		}
	}
}

func TestServeFinishesWhatIsInFlight(t *testing.T) {
	calltest.Record(t)
	s := serve(t)
	entered, goOn := make(chan struct{}), make(chan struct{})
	s.service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
		close(entered)
		<-goOn
		return &pb.TestResponse{}, ctx.Err()
	}
	got := callUnary(t.Context(), pb.NewTestServiceClient(dial(t, s.address)), "slow")
	wait(t, entered, "the call")
	s.cancel()
	refused(t, s.address)
	close(goOn)
	if err := <-got; err != nil {
		t.Errorf("call in flight = %v, want OK", err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestTaskOutsideAnApplicationLogsItsError(t *testing.T) {
	log := calltest.Record(t)
	runner.New(runner.WithGracefulStopTimeout(0))(t.Context())
	line := log.Only("the gRPC server failed")
	if text, _ := line["error"].(string); !strings.Contains(text, "WithGracefulStopTimeout") ||
		line["level"] != "error" {
		t.Errorf("line = %v, want the error", line)
	}
}

// brittle is a listener that fails when told.
type brittle struct {
	net.Listener
	fail chan struct{}
}

var errBrittle = errors.New("the listener broke")

func (b brittle) Accept() (net.Conn, error) {
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := b.Listener.Accept(); err == nil {
			accepted <- conn
		}
	}()
	select {
	case conn := <-accepted:
		return conn, nil
	case <-b.fail:
		_ = b.Close()
		return nil, errBrittle
	}
}

func TestListenerThatFailsEndsTheApplicationAtOnce(t *testing.T) {
	l := brittle{Listener: listen(t), fail: make(chan struct{})}
	a := prepare(t, fixture{runner: []runner.Option{runner.WithListener(l)}})
	entered := make(chan struct{})
	a.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		close(entered)
		// so a server that waits for its calls before it tells anybody waits too long
		<-a.Life().Draining()
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
	if !errors.Is(err, errBrittle) || strings.Count(err.Error(), errBrittle.Error()) != 1 {
		t.Errorf("RunContext = %v, want the listener's error once", err)
	}
}

func TestListenerThatFailsEndsServe(t *testing.T) {
	calltest.Record(t)
	l := brittle{Listener: listen(t), fail: make(chan struct{})}
	close(l.fail)
	if err := runner.Serve(t.Context(), runner.WithListener(l)); !errors.Is(err, errBrittle) {
		t.Errorf("Serve = %v, want the listener's error", err)
	}
}

// inMemory serves in a bubble of synctest, over memory.
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
			Time:                10 * time.Second,
			PermitWithoutStream: true,
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

func TestServeCutsOffWhatOutlastsTheDefaultOf30Seconds(t *testing.T) {
	log := calltest.Record(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan struct{})
		service := &calltest.Service{OnUnary: func(ctx context.Context,
			_ *pb.TestRequest,
		) (*pb.TestResponse, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		conn, done := inMemory(t, ctx, service)
		got := callUnary(t.Context(), pb.NewTestServiceClient(conn), "slow")
		<-entered
		began := time.Now()
		cancel()
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "1 unary calls were cut off") {
			t.Errorf("Serve = %v, want the number of calls", err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("the stop took %s, want 30s", took)
		}
		if err := <-got; status.Code(err) != codes.Unavailable &&
			status.Code(err) != codes.Canceled {
			t.Errorf("call = %v, want it cut off", err)
		}
		_ = conn.Close()
	})
	if line := log.Only("call"); line["status"] != "CANCELLED" {
		t.Errorf("line = %v, want the call's", line)
	}
}

func TestCallWhoseMessageNeverComesHoldsUpTheStopForItsTime(t *testing.T) {
	calltest.Record(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		conn, done := inMemory(t, ctx, &calltest.Service{})
		// As a stream the client sends the headers only.
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true},
			pb.TestService_Unary_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v, want nil: no handler had the call", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the stop took %s, want the 10s of the first message", took)
		}
		if err := stream.RecvMsg(&pb.TestResponse{}); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("call = %v, want DEADLINE_EXCEEDED", err)
		}
		_ = conn.Close()
	})
}
