package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/grpcx/internal/call"
)

// server is a gRPC server with its shutdown state.
type server struct {
	*config
	grpc     *grpc.Server
	health   *health
	inFlight call.InFlight
	limiter  *limiter

	stopping context.Context // stops health watches and reflection streams
	cancel   context.CancelFunc

	pendingConns *pendingConns
	serviceCount int // number of the application's services

	once    sync.Once
	stopped chan struct{} // closed after shutdown
	err     error         // of the shutdown
}

// run serves l until ctx is canceled or the application shuts its servers down, whichever
// happens first.
func (s *server) run(
	ctx context.Context, l net.Listener, listening func(), fail func(error),
) error {
	s.pendingConns = newPendingConns(l, s.limiter)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(s.pendingConns) }()
	healthCtx, stopHealth := context.WithCancel(context.WithoutCancel(ctx))
	defer s.health.run(healthCtx)()
	defer stopHealth()
	xhook.OnShutdown(ctx, name, s.stop)
	listening()

	var err error
	select {
	case err = <-served:
		if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			err = fmt.Errorf("grpcx/runner: serve: %w", err)
			fail(err) // before the shutdown
		}
	case <-s.stopped:
	case <-ctx.Done():
	}
	failure := s.stop(context.WithoutCancel(ctx))
	if err == nil {
		// The shutdown hook returns the same error, so the application reports it once.
		return failure
	}
	return errors.Join(err, failure)
}

// stop shuts down once. Further calls wait and return the same error.
func (s *server) stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.finish(ctx)
		close(s.stopped)
	})
	return s.err
}

// finish shuts down gracefully and force closes in-flight calls after the timeout.
func (s *server) finish(ctx context.Context) error {
	s.health.Shutdown()
	s.cancel()
	defer time.AfterFunc(maxPending, s.pendingConns.closePending).Stop()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	var closeErr error
	err := xhook.Finish(ctx, s.stopTimeout, done, func() { closeErr = s.forceClose(ctx) })
	running := s.inFlight.Unary.Load() + s.inFlight.Streams.Load()
	if running > 0 && errors.Is(err, xhook.ErrAbandoned) {
		return errors.Join(closeErr, fmt.Errorf(
			"grpcx/runner: %d handlers still running after their context was canceled", running))
	}
	return closeErr
}

// forceClose closes the connections of in-flight calls, which cancels the contexts of
// their handlers.
func (s *server) forceClose(ctx context.Context) error {
	unary, streams := s.inFlight.Unary.Load(), s.inFlight.Streams.Load()
	// Log even without handlers: a call whose message has not arrived is not counted.
	s.log.Warn(ctx, "in-flight calls force closed",
		slog.Int64("unary", unary), slog.Int64("streams", streams))
	go func() {
		s.pendingConns.closePending()
		s.grpc.Stop() // waits for handlers, like GracefulStop
	}()
	if unary == 0 {
		return nil
	}
	return fmt.Errorf("grpcx/runner: %d unary calls force closed: graceful stop timed out", unary)
}
