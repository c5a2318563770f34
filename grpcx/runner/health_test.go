package runner_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpchealth "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

const (
	serving    = healthpb.HealthCheckResponse_SERVING
	notServing = healthpb.HealthCheckResponse_NOT_SERVING
)

// check returns the status of a service.
func check(
	t *testing.T, conn *grpc.ClientConn, service string,
) healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	response, err := healthpb.NewHealthClient(conn).Check(t.Context(),
		&healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return response.GetStatus()
}

// wantHealth checks the status of the server and the test service, and the list.
func wantHealth(
	t *testing.T, conn *grpc.ClientConn, want healthpb.HealthCheckResponse_ServingStatus,
) {
	t.Helper()
	for _, service := range []string{"", serviceName} {
		if got := check(t, conn, service); got != want {
			t.Errorf("health of %q = %s, want %s", service, got, want)
		}
	}
	response, err := healthpb.NewHealthClient(conn).List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil || response.GetStatuses()[""].GetStatus() != want {
		t.Errorf("list = %v, %v; want %s", response, err, want)
	}
}

// watcher is a client that watches the health.
type watcher struct {
	t      *testing.T
	stream grpc.ServerStreamingClient[healthpb.HealthCheckResponse]
}

func watch(t *testing.T, conn *grpc.ClientConn, service string) *watcher {
	t.Helper()
	stream, err := healthpb.NewHealthClient(conn).Watch(t.Context(),
		&healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{t, stream}
}

// next waits for a status.
func (w *watcher) next(want healthpb.HealthCheckResponse_ServingStatus) {
	w.t.Helper()
	response, err := w.stream.Recv()
	if err != nil || response.GetStatus() != want {
		w.t.Fatalf("watch = %s, %v; want %s", response.GetStatus(), err, want)
	}
}

// wantError waits until the watch fails with a status code.
func (w *watcher) wantError(want codes.Code) {
	w.t.Helper()
	if response, err := w.stream.Recv(); status.Code(err) != want {
		w.t.Errorf("watch = %s, %v; want error code %s", response.GetStatus(), err, want)
	}
}

// node is a component that can be unhealthy.
type node struct{ unhealthy atomic.Bool }

func (n *node) check(context.Context) error {
	if n.unhealthy.Load() {
		return errors.New("down")
	}
	return nil
}

func TestHealth(t *testing.T) {
	t.Run("reports the readiness of the application", func(t *testing.T) {
		a := prepare(t, fixture{})
		started, release := make(chan struct{}), make(chan struct{})
		a.Lifecycle().OnReady("test", func(context.Context) error {
			close(started)
			<-release
			return nil
		})
		n := &node{}
		a.Lifecycle().AddHealth("node", n.check)
		a.run()
		wait(t, started, "the ready hook")
		conn := a.conn() // gRPC listens before the application is ready
		wantHealth(t, conn, notServing)
		if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
			t.Errorf("/readyz = %d, %s; want 503, starting", code, state)
		}
		w := watch(t, conn, serviceName)
		w.next(notServing)
		close(release)
		w.next(serving)
		wantHealth(t, conn, serving)
		n.unhealthy.Store(true)
		wantHealth(t, conn, notServing)
		w.next(notServing) // the check notified the watcher
		n.unhealthy.Store(false)
		wantHealth(t, conn, serving)
		w.next(serving)
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.next(notServing)
		w.wantError(codes.Unavailable)
	})

	t.Run("returns NOT_FOUND for an unknown service", func(t *testing.T) {
		conn := prepare(t, fixture{}).start().conn()
		response, err := healthpb.NewHealthClient(conn).Check(t.Context(),
			&healthpb.HealthCheckRequest{Service: "no.Service"})
		if status.Code(err) != codes.NotFound {
			t.Errorf("health = %s, %v; want NOT_FOUND", response.GetStatus(), err)
		}
		watch(t, conn, "no.Service").next(healthpb.HealthCheckResponse_SERVICE_UNKNOWN)
	})

	t.Run("reports NOT_SERVING during the drain delay", func(t *testing.T) {
		a := prepare(t, fixture{
			options: []xoption.Option{xoption.WithDrainDelay(2 * time.Second)},
		}).start()
		conn := a.conn()
		w := watch(t, conn, "")
		w.next(serving)
		a.cancel()
		wait(t, a.Lifecycle().Draining(), "the drain delay")
		w.next(notServing)
		wantHealth(t, conn, notServing)
		call(t, pb.NewTestServiceClient(conn), "served")
		call(t, a.client(), "served over a new connection")
		if err := a.result(); err != nil {
			t.Error(err)
		}
		w.wantError(codes.Unavailable)
	})

	t.Run("lists the server only", func(t *testing.T) {
		for _, reflection := range []string{"false", "true"} {
			t.Run(reflection, func(t *testing.T) {
				calltest.Record(t)
				t.Setenv("GRPC_REFLECTION", reflection)
				conn := dial(t, serve(t).address)
				response, err := healthpb.NewHealthClient(conn).List(t.Context(),
					&healthpb.HealthListRequest{})
				if err != nil {
					t.Fatal(err)
				}
				got := slices.Sorted(maps.Keys(response.GetStatuses()))
				if !slices.Equal(got, []string{""}) {
					t.Errorf("names = %q, want only the server", got)
				}
				wantHealth(t, conn, serving) // a known name can be checked
			})
		}
	})

	t.Run("uses the health service of the application", func(t *testing.T) {
		custom := grpchealth.NewServer()
		custom.SetServingStatus("part", healthpb.HealthCheckResponse_NOT_SERVING)
		a := prepare(t, fixture{runner: []runner.Option{
			runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
				healthpb.RegisterHealthServer(r, custom)
			}),
		}}).start()
		conn := a.conn()
		if got := check(t, conn, "part"); got != notServing {
			t.Errorf("health of a service = %s, want the status of the application", got)
		}
		if got := check(t, conn, ""); got != serving {
			t.Errorf("health = %s, want the status of the application", got)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestNew_Readiness(t *testing.T) {
	registering, release := make(chan struct{}), make(chan struct{})
	a := prepare(t, fixture{runner: []runner.Option{
		runner.WithRegisterService(func(context.Context, grpc.ServiceRegistrar) {
			close(registering)
			<-release
		}),
	}}).run()
	wait(t, registering, "the registration")
	if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
		t.Errorf("/readyz = %d, %s before gRPC serves; want 503, starting", code, state)
	}
	close(release)
	wait(t, a.Lifecycle().Ready(), "readiness")
	call(t, a.client(), "hello")
	if code, state := a.readyz(); code != http.StatusOK || state != "ready" {
		t.Errorf("/readyz = %d, %s; want 200, ready", code, state)
	}
}

// bubble is a server of a ready application in a synctest bubble.
type bubble struct {
	*testing.T
	lifecycle *xhook.Lifecycle
	conn      *grpc.ClientConn
	stop      context.CancelFunc
}

// inBubble runs test with a bubble.
func inBubble(t *testing.T, test func(b *bubble)) {
	t.Helper()
	calltest.Record(t)
	synctest.Test(t, func(t *testing.T) {
		lifecycle := xhook.New()
		ctx, cancel := context.WithCancel(xhook.NewContext(t.Context(), lifecycle))
		conn, done := inMemory(t, ctx, &calltest.Service{})
		synctest.Wait()
		if err := lifecycle.SetReady(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			_ = conn.Close()
			<-time.After(xhook.CheckTimeout) // abandoned checks finish
		}()
		test(&bubble{t, lifecycle, conn, cancel})
	})
}

// addHangingNode adds a node. While the returned value is true, its check blocks until
// its context is canceled.
func (b *bubble) addHangingNode() *atomic.Bool {
	hangs := &atomic.Bool{}
	b.lifecycle.AddHealth("node", func(ctx context.Context) error {
		if !hangs.Load() {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	return hangs
}

func TestHealth_HangingNode(t *testing.T) {
	t.Run("shares one check of the node among concurrent checks", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			b.addHangingNode().Store(true)
			started := time.Now()
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					if got := check(b.T, b.conn, ""); got != notServing {
						b.Errorf("health = %s, want NOT_SERVING", got)
					}
				})
			}
			wg.Wait()
			if elapsed := time.Since(started); elapsed > xhook.CheckTimeout+time.Second/10 {
				b.Errorf("50 checks took %s, want %s", elapsed, xhook.CheckTimeout)
			}
		})
	})

	t.Run("does not change the status after a canceled check", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			hangs := b.addHangingNode()
			w := watch(b.T, b.conn, "")
			w.next(serving)
			hangs.Store(true)
			// A deadline would also end the call on the server.
			ctx, cancel := context.WithCancel(b.Context())
			defer time.AfterFunc(time.Second, cancel).Stop()
			_, err := healthpb.NewHealthClient(b.conn).Check(ctx, &healthpb.HealthCheckRequest{})
			if status.Code(err) != codes.Canceled {
				b.Errorf("check = %v, want the cancellation", err)
			}
			synctest.Wait() // the server has received the cancellation
			hangs.Store(false)
			time.AfterFunc(20*time.Second, b.stop)
			started := time.Now()
			w.next(notServing) // only at shutdown
			if elapsed := time.Since(started); elapsed < 20*time.Second {
				b.Errorf("status changed after %s, want no change before shutdown", elapsed)
			}
		})
	})
}

func TestHealth_Watch(t *testing.T) {
	t.Run("reports an unhealthy node", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			n := &node{}
			b.lifecycle.AddHealth("node", n.check)
			w := watch(b.T, b.conn, serviceName)
			w.next(serving)
			for _, unhealthy := range []bool{true, false} {
				n.unhealthy.Store(unhealthy)
				started := time.Now()
				if unhealthy {
					w.next(notServing)
				} else {
					w.next(serving)
				}
				if elapsed := time.Since(started); elapsed > 6*time.Second {
					b.Errorf("status changed after %s, want at most 6s", elapsed)
				}
			}
		})
	})

	t.Run("does not check nodes without watchers", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			var checks atomic.Int32
			b.lifecycle.AddHealth("node", func(context.Context) error { checks.Add(1); return nil })
			timer := time.NewTimer(time.Minute)
			<-timer.C
			if checks.Load() != 0 {
				b.Errorf("checks in a minute = %d, want 0", checks.Load())
			}
		})
	})

	t.Run("reports shutdown while a node hangs", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			hangs := b.addHangingNode()
			w := watch(b.T, b.conn, "")
			w.next(serving)
			checks := make(chan struct{}, 10)
			b.lifecycle.AddHealth("observer",
				func(context.Context) error { checks <- struct{}{}; return nil })
			hangs.Store(true)
			<-checks // a poll has started and blocks for 2 s
			started := time.Now()
			b.lifecycle.StartDrain()
			w.next(notServing)
			if elapsed := time.Since(started); elapsed > time.Second/10 {
				b.Errorf("status changed after %s, want immediately", elapsed)
			}
		})
	})
}
