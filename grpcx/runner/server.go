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

// live serves l until ctx ends, or until the application's stop comes to its servers, which is earlier.
func (s *server) live(ctx context.Context, l net.Listener, listening func(), broken func(error)) error {
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
		return failure // itself: so the application sees that it is what the shutdown hook has told already
	}
	return errors.Join(err, failure)
}

// stop finishes what is in flight, once; whoever calls it again waits for the same outcome. ctx bounds it beside the
// timeout of the graceful stop.
func (s *server) stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.finish(ctx)
		close(s.stopped)
	})
	return s.err
}

const (
	// maxMargin bounds the part of the application's time that is kept for cutting off what has not finished: a tenth.
	maxMargin = time.Second
	// maxDeserted bounds the graceful stop while no handler has a call: what holds it up then is a message that does not
	// come, or an answer that nobody takes, as long as its client likes.
	maxDeserted = 5 * time.Second
	// lastGrace is how long handlers have to return after they were cut off, where the application sets no end.
	lastGrace = 5 * time.Second
)

// finish is the graceful stop, and the other one where that takes too long.
func (s *server) finish(ctx context.Context) error {
	graceful, cancel := context.WithTimeout(ctx, s.stopTimeout)
	defer cancel()
	if end, ok := ctx.Deadline(); ok {
		margin := min(time.Until(end)/10, maxMargin)
		graceful, cancel = context.WithDeadline(graceful, end.Add(-margin))
		defer cancel()
	}
	s.health.Shutdown()
	s.end()
	defer time.AfterFunc(maxPending, s.pendingConns.dismiss).Stop()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	if s.outlast(graceful, done) {
		return nil
	}
	return s.cut(ctx, done)
}

// outlast waits for done, and returns false where ctx ends first, or where no handler has had a call for maxDeserted.
func (s *server) outlast(ctx context.Context, done <-chan struct{}) bool {
	const looks = 10
	ticker := time.NewTicker(maxDeserted / looks)
	defer ticker.Stop()
	for deserted := 0; deserted < looks; {
		select {
		case <-done:
			return true
		case <-ctx.Done():
			return false
		case <-ticker.C:
			deserted++
			if s.inFlight.Unary.Load()+s.inFlight.Streams.Load() > 0 {
				deserted = 0
			}
		}
	}
	return false
}

// cut closes the connections of what has not finished, which ends the contexts of its handlers, and waits for these.
func (s *server) cut(ctx context.Context, done <-chan struct{}) error {
	unary, streams := s.inFlight.Unary.Load(), s.inFlight.Streams.Load()
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lastGrace)
		defer cancel()
	}
	var err error
	if unary > 0 {
		err = fmt.Errorf("grpcx/runner: %d unary calls were cut off: the time for the graceful stop has run out", unary)
	}
	// Also where no handler is left: a call whose message has not come is known to the connection only.
	s.log.Warn(ctx, "what has not finished is cut off", slog.Int64("unary", unary), slog.Int64("streams", streams))
	go func() {
		s.pendingConns.dismiss()
		s.grpc.Stop() // waits for the same as GracefulStop
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		left := s.inFlight.Unary.Load() + s.inFlight.Streams.Load()
		if left == 0 {
			return err
		}
		return errors.Join(err, fmt.Errorf("grpcx/runner: %d handlers go on after the end of their context", left))
	}
}
