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

// check asks for the health of a service.
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

// checkAll asks for the health of everything.
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

// watching is a client that watches health.
type watching struct {
	t      *testing.T
	stream grpc.ServerStreamingClient[healthpb.HealthCheckResponse]
}

func watch(t *testing.T, conn *grpc.ClientConn, service string) *watching {
	t.Helper()
	stream, err := healthpb.NewHealthClient(conn).Watch(t.Context(),
		&healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return &watching{t, stream}
}

// next waits for a change.
func (w *watching) next(want healthpb.HealthCheckResponse_ServingStatus) {
	w.t.Helper()
	answer, err := w.stream.Recv()
	if err != nil || answer.GetStatus() != want {
		w.t.Fatalf("watched %s, %v; want %s", answer.GetStatus(), err, want)
	}
}

// ends waits for the end.
func (w *watching) ends(want codes.Code) {
	w.t.Helper()
	if answer, err := w.stream.Recv(); status.Code(err) != want {
		w.t.Errorf("watched %s, %v; want the end with %s", answer.GetStatus(), err, want)
	}
}

// node is a part of the application that can be unwell.
type node struct{ unwell atomic.Bool }

func (n *node) check(context.Context) error {
	if n.unwell.Load() {
		return errors.New("down")
	}
	return nil
}

func TestHealthFollowsTheReadinessOfTheApplication(t *testing.T) {
	a := prepare(t, fixture{})
	warm, goOn := make(chan struct{}), make(chan struct{})
	a.Life().OnReady("warm", func(context.Context) error { close(warm); <-goOn; return nil })
	n := &node{}
	a.Life().AddHealth("node", n.check)
	a.run()
	wait(t, warm, "the ready hook")
	conn := a.conn() // gRPC listens, and the application is not ready yet
	checkAll(t, conn, notServing)
	if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
		t.Errorf("/readyz = %d, %s; want 503, starting", code, state)
	}
	w := watch(t, conn, serviceName)
	w.next(notServing)
	close(goOn)
	w.next(serving)
	checkAll(t, conn, serving)
	n.unwell.Store(true)
	checkAll(t, conn, notServing)
	w.next(notServing) // the check has told the watcher
	n.unwell.Store(false)
	checkAll(t, conn, serving)
	w.next(serving)
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	w.next(notServing)
	w.ends(codes.Unavailable)
}

func TestReadinessWaitsUntilGRPCListens(t *testing.T) {
	registering, goOn := make(chan struct{}), make(chan struct{})
	a := prepare(t, fixture{runner: []runner.Option{
		runner.WithRegisterService(func(context.Context, grpc.ServiceRegistrar) {
			close(registering)
			<-goOn
		}),
	}}).run()
	wait(t, registering, "the registration")
	if code, state := a.readyz(); code != http.StatusServiceUnavailable || state != "starting" {
		t.Errorf("/readyz = %d, %s before gRPC serves; want 503, starting", code, state)
	}
	close(goOn)
	wait(t, a.Life().Readied(), "readiness")
	call(t, a.client(), "hello")
	if code, state := a.readyz(); code != http.StatusOK || state != "ready" {
		t.Errorf("/readyz = %d, %s; want 200, ready", code, state)
	}
}

func TestHealthOfAnUnknownServiceIsNotFound(t *testing.T) {
	conn := prepare(t, fixture{}).start().conn()
	answer, err := healthpb.NewHealthClient(conn).Check(t.Context(),
		&healthpb.HealthCheckRequest{Service: "no.Service"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("health = %s, %v; want NOT_FOUND", answer.GetStatus(), err)
	}
	watch(t, conn, "no.Service").next(healthpb.HealthCheckResponse_SERVICE_UNKNOWN)
}

func TestHealthSaysNoDuringTheDrainDelayWhileCallsAreServed(t *testing.T) {
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
	w.ends(codes.Unavailable)
}

func TestListOfHealthNamesNoService(t *testing.T) {
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
				t.Errorf("names = %q, want the server's only", got)
			}
			checkAll(t, conn, serving) // who knows a name may ask for it
		})
	}
}

func TestHealthServiceOfTheApplicationsOwnIsLeftAlone(t *testing.T) {
	own := grpchealth.NewServer()
	own.SetServingStatus("part", healthpb.HealthCheckResponse_NOT_SERVING)
	a := prepare(t, fixture{runner: []runner.Option{
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			healthpb.RegisterHealthServer(r, own)
		}),
	}}).start()
	conn := a.conn()
	if got := check(t, conn, "part"); got != notServing {
		t.Errorf("health of a part = %s, want what the application says", got)
	}
	if got := check(t, conn, ""); got != serving {
		t.Errorf("health = %s, want what the application says", got)
	}
	if err := a.stop(); err != nil {
		t.Error(err)
	}
}

// bubble is a server in a bubble of synctest, in which time passes at once, with a life
// that is ready.
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
			<-time.After(xhook.CheckTimeout) // for checks that hang, which nobody waits for
		}()
		test(&bubble{t, life, conn, cancel})
	})
}

// hang makes the node of a bubble hang, as long as its context, while the value is true.
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

func TestChecksAtTheSameTimeWaitForANodeThatHangsTogether(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.hang().Store(true)
		began := time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := check(b.T, b.conn, ""); got != notServing {
					b.Errorf("health = %s, want NOT_SERVING", got)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > xhook.CheckTimeout+time.Second/10 {
			b.Errorf("50 checks took %s, want %s", took, xhook.CheckTimeout)
		}
	})
}

func TestCheckThatItsCallerGivesUpMakesNobodyUnwell(t *testing.T) {
	inBubble(t, func(b *bubble) {
		hangs := b.hang()
		w := watch(b.T, b.conn, "")
		w.next(serving)
		hangs.Store(true)
		// no deadline, which the server would know and answer at
		ctx, cancel := context.WithCancel(b.Context())
		defer time.AfterFunc(time.Second, cancel).Stop()
		_, err := healthpb.NewHealthClient(b.conn).Check(ctx, &healthpb.HealthCheckRequest{})
		if status.Code(err) != codes.Canceled {
			b.Errorf("check = %v, want what its caller gave up", err)
		}
		synctest.Wait() // the server has heard of it
		hangs.Store(false)
		time.AfterFunc(20*time.Second, b.stop)
		began := time.Now()
		w.next(notServing) // only now, with the stop
		if took := time.Since(began); took < 20*time.Second {
			b.Errorf("watched a change after %s, want none before the stop", took)
		}
	})
}

func TestWatchersSeeANodeThatBecomesUnwellWithoutAnybodyAsking(t *testing.T) {
	inBubble(t, func(b *bubble) {
		n := &node{}
		b.life.AddHealth("node", n.check)
		w := watch(b.T, b.conn, serviceName)
		w.next(serving)
		for _, unwell := range []bool{true, false} {
			n.unwell.Store(unwell)
			began := time.Now()
			w.next(map[bool]healthpb.HealthCheckResponse_ServingStatus{
				true:  notServing,
				false: serving,
			}[unwell])
			if took := time.Since(began); took > 6*time.Second {
				b.Errorf("seen after %s, want at most 5s", took)
			}
		}
	})
}

func TestNodesAreNotAskedWhileNobodyWatches(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var asked atomic.Int32
		b.life.AddHealth("node", func(context.Context) error { asked.Add(1); return nil })
		timer := time.NewTimer(time.Minute)
		<-timer.C
		if asked.Load() != 0 {
			b.Errorf("asked %d times in a minute, want never", asked.Load())
		}
	})
}

func TestWatchersSeeTheStopAtOnceAlsoWhileANodeHangs(t *testing.T) {
	inBubble(t, func(b *bubble) {
		hangs := b.hang()
		w := watch(b.T, b.conn, "")
		w.next(serving)
		asked := make(chan struct{}, 10)
		b.life.AddHealth("witness", func(context.Context) error { asked <- struct{}{}; return nil })
		hangs.Store(true)
		<-asked // the look of every 5 s has begun, and takes 2 s
		began := time.Now()
		b.life.StartDrain()
		w.next(notServing)
		if took := time.Since(began); took > time.Second/10 {
			b.Errorf("seen after %s, want at once", took)
		}
	})
}
