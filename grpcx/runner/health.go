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

// refreshEvery is the interval of readiness checks while clients watch the health.
const refreshEvery = 5 * time.Second

// health implements grpc.health.v1. The server and each of its services have the status
// of the application's readiness.
type health struct {
	*grpchealth.Server
	lifecycle *xhook.Lifecycle
	stopping  context.Context // stops watches, which would delay the graceful shutdown
	services  []string

	watchers atomic.Int64
}

// newHealth registers the health service, unless the application has registered its own.
// Watches end when the context stopping is canceled.
func newHealth(ctx, stopping context.Context, server *grpc.Server) *health {
	h := &health{
		Server:    grpchealth.NewServer(),
		lifecycle: xhook.From(ctx),
		stopping:  stopping,
		services:  []string{""},
	}
	for service := range server.GetServiceInfo() {
		h.services = append(h.services, service)
	}
	healthpb.RegisterHealthServer(ifMissing{server}, h)
	h.set(h.status(ctx))
	return h
}

// Check implements grpc.health.v1. It runs the readiness checks.
func (h *health) Check(
	ctx context.Context, req *healthpb.HealthCheckRequest,
) (*healthpb.HealthCheckResponse, error) {
	h.refresh(ctx)
	return h.Server.Check(ctx, req)
}

// List implements grpc.health.v1. It runs the readiness checks and lists only the server,
// so clients cannot enumerate services.
func (h *health) List(
	ctx context.Context, _ *healthpb.HealthListRequest,
) (*healthpb.HealthListResponse, error) {
	response, err := h.Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return nil, err
	}
	return &healthpb.HealthListResponse{
		Statuses: map[string]*healthpb.HealthCheckResponse{"": response},
	}, nil
}

// Watch implements grpc.health.v1. It returns when the server shuts down.
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

// watch is a stream with another context.
type watch struct {
	grpc.ServerStreamingServer[healthpb.HealthCheckResponse]
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (w watch) Context() context.Context { return w.ctx }

// run updates watchers until ctx is canceled. wait waits for its goroutines.
func (h *health) run(ctx context.Context) (wait func()) {
	var goroutines sync.WaitGroup
	goroutines.Go(func() { h.poll(ctx) })
	goroutines.Go(func() { // separate from poll, which a slow check may block
		select {
		case <-h.lifecycle.Draining():
			h.Shutdown()
		case <-ctx.Done():
		}
	})
	return goroutines.Wait
}

// poll runs the readiness checks when the service becomes ready and, while clients watch,
// at each interval.
func (h *health) poll(ctx context.Context) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	ready := h.lifecycle.Ready()
	for {
		select {
		case <-ready:
			ready = nil
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

// refresh updates the status, unless ctx was canceled during the checks.
func (h *health) refresh(ctx context.Context) {
	now := h.status(ctx)
	if ctx.Err() == nil {
		h.set(now)
	}
}

// status returns the application's readiness, or SERVING outside an application.
func (h *health) status(ctx context.Context) healthpb.HealthCheckResponse_ServingStatus {
	if h.lifecycle == nil {
		return healthpb.HealthCheckResponse_SERVING
	}
	if h.lifecycle.State() != xhook.StateReady {
		return healthpb.HealthCheckResponse_NOT_SERVING
	}
	for _, node := range h.lifecycle.Check(ctx) {
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
