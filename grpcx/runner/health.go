package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	grpchealth "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// refreshEvery is how often the nodes are asked while somebody watches their health.
const refreshEvery = 5 * time.Second

// health is the health service of grpc.health.v1. It says of the server, and of each of
// its services, what the readiness of the application says.
type health struct {
	*grpchealth.Server
	life     *xhook.Lifecycle
	stopping context.Context // ends the watches, which would hold up the graceful stop
	services []string

	watchers atomic.Int64
}

// newHealth adds the health service to the server, unless the application has registered
// one of its own. Its watches end with stopping.
func newHealth(ctx, stopping context.Context, server *grpc.Server) *health {
	h := &health{
		Server: grpchealth.NewServer(), life: xhook.From(ctx), stopping: stopping,
		services: []string{""},
	}
	for service := range server.GetServiceInfo() {
		h.services = append(h.services, service)
	}
	healthpb.RegisterHealthServer(missing{server}, h)
	h.set(h.status(ctx))
	return h
}

// Check implements grpc.health.v1: it asks now.
func (h *health) Check(
	ctx context.Context, req *healthpb.HealthCheckRequest,
) (*healthpb.HealthCheckResponse, error) {
	h.refresh(ctx)
	return h.Server.Check(ctx, req)
}

// List implements grpc.health.v1: it asks now. It has the server only, so that no client
// learns which services there are.
func (h *health) List(
	ctx context.Context, _ *healthpb.HealthListRequest,
) (*healthpb.HealthListResponse, error) {
	whole, err := h.Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return nil, err
	}
	return &healthpb.HealthListResponse{Statuses: map[string]*healthpb.HealthCheckResponse{"": whole}}, nil
}

// Watch implements grpc.health.v1. It ends when the server stops.
func (h *health) Watch(
	req *healthpb.HealthCheckRequest,
	stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse],
) error {
	h.watchers.Add(1)
	defer h.watchers.Add(-1)
	h.refresh(stream.Context())
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(h.stopping, cancel)()
	err := h.Server.Watch(req, watch{ServerStreamingServer: stream, ctx: ctx})
	if h.stopping.Err() != nil {
		return errStopping
	}
	return err
}

// watch is a stream whose context also ends with the server.
type watch struct {
	grpc.ServerStreamingServer[healthpb.HealthCheckResponse]
	ctx context.Context // grpc's streams hold theirs
}

// Context implements grpc.ServerStream.
func (w watch) Context() context.Context { return w.ctx }

// follow keeps watchers up to date until ctx ends; the function that it returns waits for
// that.
func (h *health) follow(ctx context.Context) (wait func()) {
	var following sync.WaitGroup
	following.Go(func() { h.look(ctx) })
	following.Go(func() { // not held up by a look, which may take as long as a check
		select {
		case <-h.life.Draining():
			h.Shutdown()
		case <-ctx.Done():
		}
	})
	return following.Wait
}

// look looks at the readiness when the service becomes ready, and as long as somebody
// watches, until ctx ends.
func (h *health) look(ctx context.Context) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	readied := h.life.Readied()
	for {
		select {
		case <-readied:
			readied = nil
			h.refresh(ctx)
		case <-ticker.C:
			if h.watchers.Load() > 0 {
				h.refresh(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// refresh looks at the application's readiness. When ctx ends meanwhile it is not the
// application that is unwell.
func (h *health) refresh(ctx context.Context) {
	now := h.status(ctx)
	if ctx.Err() == nil {
		h.set(now)
	}
}

// status is what the application's readiness says. Outside an application there is
// nothing that could be unwell.
func (h *health) status(ctx context.Context) healthpb.HealthCheckResponse_ServingStatus {
	if h.life == nil {
		return healthpb.HealthCheckResponse_SERVING
	}
	if h.life.State() != xhook.StateReady {
		return healthpb.HealthCheckResponse_NOT_SERVING
	}
	for _, node := range h.life.Check(ctx) {
		if !node.OK {
			return healthpb.HealthCheckResponse_NOT_SERVING
		}
	}
	return healthpb.HealthCheckResponse_SERVING
}

func (h *health) set(now healthpb.HealthCheckResponse_ServingStatus) {
	for _, service := range h.services {
		h.SetServingStatus(service, now)
	}
}
