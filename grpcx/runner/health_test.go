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

// check calls Check.
func check(
	t *testing.T, conn *grpc.ClientConn, service string,
) healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	answer, err := healthpb.NewHealthClient(conn).Check(t.Context(),
		&healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return answer.GetStatus()
}

// checkAll checks all services and the list.
func checkAll(
	t *testing.T, conn *grpc.ClientConn, want healthpb.HealthCheckResponse_ServingStatus,
) {
	t.Helper()
	for _, service := range []string{"", serviceName} {
		if got := check(t, conn, service); got != want {
			t.Errorf("health of %q = %s, want %s", service, got, want)
		}
	}
	answer, err := healthpb.NewHealthClient(conn).List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil || answer.GetStatuses()[""].GetStatus() != want {
		t.Errorf("list = %v, %v; want %s", answer, err, want)
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
	answer, err := w.stream.Recv()
	if err != nil || answer.GetStatus() != want {
		w.t.Fatalf("watch = %s, %v; want %s", answer.GetStatus(), err, want)
	}
}

// wantError waits until the watch fails with a status code.
func (w *watcher) wantError(want codes.Code) {
	w.t.Helper()
	if answer, err := w.stream.Recv(); status.Code(err) != want {
		w.t.Errorf("watch = %s, %v; want error code %s", answer.GetStatus(), err, want)
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
		warm, release := make(chan struct{}), make(chan struct{})
		a.Life().OnReady("warm", func(context.Context) error { close(warm); <-release; return nil })
		n := &node{}
		a.Life().AddHealth("node", n.check)
		a.run()
		wait(t, warm, "the ready hook")
		conn := a.conn() // gRPC listens before the application is ready
		checkAll(t, conn, notServing)
		if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
			t.Errorf("/readyz = %d, %s; want 503, starting", code, state)
		}
		w := watch(t, conn, serviceName)
		w.next(notServing)
		close(release)
		w.next(serving)
		checkAll(t, conn, serving)
		n.unhealthy.Store(true)
		checkAll(t, conn, notServing)
		w.next(notServing) // the check notified the watcher
		n.unhealthy.Store(false)
		checkAll(t, conn, serving)
		w.next(serving)
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.next(notServing)
		w.wantError(codes.Unavailable)
	})

	t.Run("returns NOT_FOUND for an unknown service", func(t *testing.T) {
		conn := prepare(t, fixture{}).start().conn()
		answer, err := healthpb.NewHealthClient(conn).Check(t.Context(),
			&healthpb.HealthCheckRequest{Service: "no.Service"})
		if status.Code(err) != codes.NotFound {
			t.Errorf("health = %s, %v; want NOT_FOUND", answer.GetStatus(), err)
		}
		watch(t, conn, "no.Service").next(healthpb.HealthCheckResponse_SERVICE_UNKNOWN)
	})

	t.Run("reports NOT_SERVING during the drain delay", func(t *testing.T) {
		a := prepare(t, fixture{options: []xoption.Option{xoption.WithDrainDelay(
			2 * time.Second)}}).start()
		conn := a.conn()
		w := watch(t, conn, "")
		w.next(serving)
		a.cancel()
		wait(t, a.Life().Draining(), "the stop")
		checkAll(t, conn, notServing)
		w.next(notServing)
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
				answer, err := healthpb.NewHealthClient(conn).List(t.Context(),
					&healthpb.HealthListRequest{})
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Sorted(maps.Keys(answer.GetStatuses())); !slices.Equal(got,
					[]string{""}) {
					t.Errorf("names = %q, want only the server", got)
				}
				checkAll(t, conn, serving) // a known name can be checked
			})
		}
	})

	t.Run("keeps the health service of the application", func(t *testing.T) {
		own := grpchealth.NewServer()
		own.SetServingStatus("part", healthpb.HealthCheckResponse_NOT_SERVING)
		a := prepare(t, fixture{runner: []runner.Option{
			runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
				healthpb.RegisterHealthServer(r, own)
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
	wait(t, a.Life().Readied(), "readiness")
	call(t, a.client(), "hello")
	if code, state := a.readyz(); code != http.StatusOK || state != "ready" {
		t.Errorf("/readyz = %d, %s; want 200, ready", code, state)
	}
}

// bubble is a server with a ready lifecycle in a synctest bubble.
type bubble struct {
	*testing.T
	life *xhook.Lifecycle
	conn *grpc.ClientConn
	stop context.CancelFunc
}

func inBubble(t *testing.T, test func(b *bubble)) {
	t.Helper()
	calltest.Record(t)
	synctest.Test(t, func(t *testing.T) {
		life := xhook.New()
		ctx, cancel := context.WithCancel(xhook.NewContext(t.Context(), life))
		conn, done := inMemory(t, ctx, &calltest.Service{})
		synctest.Wait()
		if err := life.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			_ = conn.Close()
			<-time.After(xhook.CheckTimeout) // until abandoned checks have finished
		}()
		test(&bubble{t, life, conn, cancel})
	})
}

// hang makes the node's check block until its context is canceled while the value is
// true.
func (b *bubble) hang() *atomic.Bool {
	hangs := &atomic.Bool{}
	b.life.AddHealth("node", func(ctx context.Context) error {
		if !hangs.Load() {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	return hangs
}

func TestHealth_HangingNode(t *testing.T) {
	t.Run("concurrent checks share one check of the node", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			b.hang().Store(true)
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
			if took := time.Since(started); took > xhook.CheckTimeout+time.Second/10 {
				b.Errorf("50 checks took %s, want %s", took, xhook.CheckTimeout)
			}
		})
	})

	t.Run("a canceled check does not change the status", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			hangs := b.hang()
			w := watch(b.T, b.conn, "")
			w.next(serving)
			hangs.Store(true)
			// a deadline would be sent to the server, which would respond itself
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
			if took := time.Since(started); took < 20*time.Second {
				b.Errorf("status changed after %s, want no change before shutdown", took)
			}
		})
	})
}

func TestHealth_Watch(t *testing.T) {
	t.Run("reports an unhealthy node", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			n := &node{}
			b.life.AddHealth("node", n.check)
			w := watch(b.T, b.conn, serviceName)
			w.next(serving)
			for _, unhealthy := range []bool{true, false} {
				n.unhealthy.Store(unhealthy)
				started := time.Now()
				w.next(map[bool]healthpb.HealthCheckResponse_ServingStatus{
					true:  notServing,
					false: serving,
				}[unhealthy])
				if took := time.Since(started); took > 6*time.Second {
					b.Errorf("status changed after %s, want at most 5s", took)
				}
			}
		})
	})

	t.Run("does not check nodes without watchers", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			var checks atomic.Int32
			b.life.AddHealth("node", func(context.Context) error { checks.Add(1); return nil })
			timer := time.NewTimer(time.Minute)
			<-timer.C
			if checks.Load() != 0 {
				b.Errorf("checked %d times in a minute, want 0", checks.Load())
			}
		})
	})

	t.Run("reports shutdown while a node hangs", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			hangs := b.hang()
			w := watch(b.T, b.conn, "")
			w.next(serving)
			checks := make(chan struct{}, 10)
			b.life.AddHealth("witness",
				func(context.Context) error { checks <- struct{}{}; return nil })
			hangs.Store(true)
			<-checks // a poll has started and blocks for 2 s
			started := time.Now()
			b.life.StartDrain()
			w.next(notServing)
			if took := time.Since(started); took > time.Second/10 {
				b.Errorf("status changed after %s, want immediately", took)
			}
		})
	})
}
