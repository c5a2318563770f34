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

// server is one gRPC server and its end.
type server struct {
	*config
	grpc     *grpc.Server
	health   *health
	inFlight call.InFlight
	intake   *intake

	stopping context.Context // ends the streams of health and reflection
	end      context.CancelFunc

	pendingConns *pendingConns
	own          int // services of the application

	once    sync.Once
	stopped chan struct{} // closed when the stop is complete
	err     error         // of the stop
}

// live serves l until ctx ends, or until the application's stop comes to its servers,
// which is earlier.
func (s *server) live(
	ctx context.Context, l net.Listener, listening func(), broken func(error),
) error {
	s.pendingConns = newPendingConns(l, s.intake)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(s.pendingConns) }()
	following, unfollow := context.WithCancel(context.WithoutCancel(ctx))
	defer s.health.follow(following)()
	defer unfollow()
	xhook.OnShutdown(ctx, name, s.stop)
	listening()

	var err error
	select {
	case err = <-served:
		if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			err = fmt.Errorf("grpcx/runner: serve: %w", err)
			broken(err) // now, and not after the stop
		}
	case <-s.stopped:
	case <-ctx.Done():
	}
	failure := s.stop(context.WithoutCancel(ctx))
	if err == nil {
		// itself: so the application sees that it is what the shutdown hook has told
		// already
		return failure
	}
	return errors.Join(err, failure)
}

// stop finishes what is in flight, once; whoever calls it again waits for the same
// outcome. ctx bounds it beside the timeout of the graceful stop.
func (s *server) stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.finish(ctx)
		close(s.stopped)
	})
	return s.err
}

// finish is the graceful stop, which cuts off what takes too long.
func (s *server) finish(ctx context.Context) error {
	s.health.Shutdown()
	s.end()
	defer time.AfterFunc(maxPending, s.pendingConns.dismiss).Stop()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	var cutOff error
	err := xhook.Finish(ctx, s.stopTimeout, done, func() { cutOff = s.cut(ctx) })
	if left := s.inFlight.Unary.Load() + s.inFlight.Streams.Load(); left > 0 &&
		errors.Is(err, xhook.ErrAbandoned) {
		return errors.Join(cutOff,
			fmt.Errorf("grpcx/runner: %d handlers go on after the end of their context", left))
	}
	return cutOff
}

// cut closes the connections of what has not finished, which ends the contexts of its
// handlers.
func (s *server) cut(ctx context.Context) error {
	unary, streams := s.inFlight.Unary.Load(), s.inFlight.Streams.Load()
	// Also where no handler is left: a call whose message has not come is known to the
	// connection only.
	s.log.Warn(ctx, "what has not finished is cut off",
		slog.Int64("unary", unary), slog.Int64("streams", streams))
	go func() {
		s.pendingConns.dismiss()
		s.grpc.Stop() // waits for the same as GracefulStop
	}()
	if unary == 0 {
		return nil
	}
	return fmt.Errorf("grpcx/runner: %d unary calls were cut off: the time for the graceful stop has run out", unary)
}
