package runner_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// freePort returns a port that is not in use.
func freePort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func TestNew_Listen(t *testing.T) {
	t.Run("uses host and port of the environment", func(t *testing.T) {
		port := freePort(t)
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", port)
		a := prepare(t, fixture{byEnv: true}).start()
		if a.address != "127.0.0.1:"+port {
			t.Errorf("address = %s, want port %s", a.address, port)
		}
		if got := call(t, a.client(), "hello").GetText(); got != "hello" {
			t.Errorf("response = %q, want hello", got)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("selects a free port for port 0", func(t *testing.T) {
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", "0")
		a := prepare(t, fixture{byEnv: true}).start()
		if strings.HasSuffix(a.address, ":0") || !strings.HasPrefix(a.address, "127.0.0.1:") {
			t.Errorf("address = %s, want the selected port", a.address)
		}
		call(t, a.client(), "hello")
	})

	t.Run("uses port 1119 by default", func(t *testing.T) {
		const address = "127.0.0.1:1119"
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err != nil {
			t.Skipf("port in use: %v", err)
		} else if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", "")
		a := prepare(t, fixture{byEnv: true}).start()
		if a.address != address {
			t.Errorf("address = %s, want %s", a.address, address)
		}
	})

	t.Run("fails before readiness if the port is in use", func(t *testing.T) {
		_, port, _ := net.SplitHostPort(listen(t).Addr().String())
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", port)
		registering, release := make(chan struct{}), make(chan struct{})
		a := prepare(t, fixture{byEnv: true, runner: []runner.Option{
			runner.WithRegisterService(func(context.Context, grpc.ServiceRegistrar) {
				close(registering)
				<-release
			}),
		}})
		a.Lifecycle().OnReady("test", func(context.Context) error {
			t.Error("the ready hooks ran")
			return nil
		})
		a.run()
		wait(t, registering, "the registration")
		if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
			t.Errorf("/readyz = %d, %s before gRPC listens; want 503, starting", code, state)
		}
		close(release)
		err := a.result()
		if err == nil || !strings.Contains(err.Error(), "GRPC_PORT") ||
			!strings.Contains(err.Error(), "127.0.0.1:"+port) {
			t.Errorf("RunContext = %v, want GRPC_PORT and the address in the error", err)
		}
		if err != nil && strings.Count(err.Error(), "cannot listen") != 1 {
			t.Errorf("RunContext = %v, want the error once", err)
		}
		select {
		case <-a.Lifecycle().Ready():
			t.Error("the service became ready")
		default:
		}
	})

	t.Run("fails if two tasks use one port", func(t *testing.T) {
		t.Setenv(xenv.Host.String(), "127.0.0.1")
		t.Setenv("GRPC_PORT", freePort(t))
		a := prepare(t, fixture{byEnv: true})
		a.run(runner.New())
		if err := a.result(); err == nil || !strings.Contains(err.Error(), "GRPC_PORT") {
			t.Errorf("RunContext = %v, want GRPC_PORT in the error", err)
		}
		if a.Lifecycle().State() != xhook.StateStopped {
			t.Errorf("state = %s, want stopped", a.Lifecycle().State())
		}
	})
}

func TestOptions_Invalid(t *testing.T) {
	t.Run("are all reported by Serve", func(t *testing.T) {
		l := listen(t)
		err := runner.Serve(t.Context(), nil,
			runner.WithLogger(nil), runner.WithGracefulStopTimeout(0),
			runner.WithGracefulStopTimeout(-time.Second), runner.WithRegisterService(nil),
			runner.WithUnaryInterceptors(nil), runner.WithStreamInterceptors(nil),
			runner.WithListener(nil), runner.WithCredentials(nil), runner.WithValidation(nil),
			runner.WithServerOptions(grpc.EmptyServerOption{}, nil), runner.WithListener(l),
		)
		if err == nil {
			t.Fatal("Serve = nil, want an error")
		}
		for _, want := range []string{
			"grpcx/runner: WithLogger: the logger is nil",
			"WithGracefulStopTimeout: 0s", "WithGracefulStopTimeout: -1s",
			"WithRegisterService: the function is nil",
			"WithUnaryInterceptors: interceptor 1 is nil",
			"WithStreamInterceptors: interceptor 1 is nil",
			"WithListener: the listener is nil",
			"WithCredentials: the credentials are nil",
			"WithValidation: check 1 is nil",
			"WithServerOptions: option 2 is nil",
		} {
			if strings.Count(err.Error(), want) != 1 {
				t.Errorf("Serve = %v, want %q once", err, want)
			}
		}
		waitRefused(t, l.Addr().String())
	})

	t.Run("shut the application down", func(t *testing.T) {
		a := prepare(t, fixture{runner: []runner.Option{runner.WithGracefulStopTimeout(0)}}).run()
		if err := a.result(); err == nil ||
			!strings.Contains(err.Error(), "WithGracefulStopTimeout") {
			t.Errorf("RunContext = %v, want the option in the error", err)
		}
		waitRefused(t, a.address)
	})
}

func TestWithRegisterService(t *testing.T) {
	t.Run("returns an error for an invalid registration", func(t *testing.T) {
		desc := pb.TestService_ServiceDesc
		for _, tc := range []struct {
			name     string
			register func(grpc.ServiceRegistrar)
			want     string
		}{
			{
				name: "twice",
				register: func(r grpc.ServiceRegistrar) {
					r.RegisterService(&desc, &calltest.Service{})
				},
				want: "service " + serviceName + " is registered twice",
			},
			{
				name: "wrong type",
				register: func(r grpc.ServiceRegistrar) {
					r.RegisterService(&healthpb.Health_ServiceDesc, &calltest.Service{})
				},
				want: "grpc.health.v1.Health: *calltest.Service does not implement " +
					"grpc_health_v1.HealthServer",
			},
			{
				name: "description is nil",
				register: func(r grpc.ServiceRegistrar) {
					r.RegisterService(nil, &calltest.Service{})
				},
				want: "service description is nil",
			},
			{
				name: "no handler type",
				register: func(r grpc.ServiceRegistrar) {
					r.RegisterService(&grpc.ServiceDesc{ServiceName: "test"}, &calltest.Service{})
				},
				want: "service test: the description has no handler type",
			},
			{
				name:     "panic",
				register: func(grpc.ServiceRegistrar) { panic("no database") },
				want:     "panic: no database",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				a := prepare(t, fixture{runner: []runner.Option{
					runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
						tc.register(r)
					}),
				}}).run()
				err := a.result()
				if err == nil ||
					!strings.Contains(err.Error(), "grpcx/runner: registering services: ") ||
					strings.Count(err.Error(), tc.want) != 1 {
					t.Errorf("RunContext = %v, want %q once", err, tc.want)
				}
				waitRefused(t, a.address)
			})
		}
	})

	t.Run("reports all invalid registrations", func(t *testing.T) {
		desc := pb.TestService_ServiceDesc
		twice := func(_ context.Context, r grpc.ServiceRegistrar) {
			r.RegisterService(&desc, &calltest.Service{})
			r.RegisterService(nil, nil)
		}
		a := prepare(t, fixture{runner: []runner.Option{runner.WithRegisterService(twice)}}).run()
		err := a.result()
		for _, want := range []string{"registered twice", "description is nil"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("RunContext = %v, want %q", err, want)
			}
		}
	})

	t.Run("logs a panic with its stack", func(t *testing.T) {
		a := prepare(t, fixture{runner: []runner.Option{
			runner.WithRegisterService(func(context.Context, grpc.ServiceRegistrar) {
				panic("no database")
			}),
		}}).run()
		if err := a.result(); err == nil {
			t.Fatal("RunContext = nil, want an error")
		}
		line := a.log.Only("panic")
		if stack, _ := line["stack"].(string); line["panic"] != "no database" ||
			!strings.Contains(stack, "start_test.go") {
			t.Errorf("line = %v, want the panic and its stack", line)
		}
	})
}

func TestWithServerOptions_Panic(t *testing.T) {
	// grpc-go panics if an interceptor is set twice.
	interceptor := func(
		ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		return next(ctx, req)
	}
	err := runner.Serve(t.Context(), runner.WithListener(listen(t)),
		runner.WithServerOptions(
			grpc.UnaryInterceptor(interceptor), grpc.UnaryInterceptor(interceptor)))
	if err == nil || !strings.Contains(err.Error(), "already set") {
		t.Errorf("Serve = %v, want the error of grpc-go", err)
	}
}
