package xmain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/internal/guard"
)

// maxPending is the maximum time to wait for the first request of an accepted connection.
const maxPending = time.Second

// errShutdownTimeout is the cause of contexts that end with the shutdown timeout.
var errShutdownTimeout = errors.New("shutdown timeout exceeded")

// errAbandoned is the error of a shutdown that the watchdog abandons.
var errAbandoned = errors.New("xmain: shutdown abandoned: still running after the shutdown timeout")

// stoppingError is the cancellation cause of force-closed requests. It differs from a
// cancellation by the client.
func stoppingError(cause error) error {
	return xerror.Wrap(xerror.ServiceUnavailable, "the service is stopping",
		fmt.Errorf("%w: %w", cause, context.Canceled))
}

// stop shuts the application down, except for the log, and joins the errors.
//
// Requests and shutdown hooks have the shutdown timeout minus its reserve. Tasks also
// have the first half of the reserve, and the nodes have the rest. A request that never
// returns therefore does not prevent the nodes from closing.
func (r *runner) stop() error {
	s := r.reg.Settings()
	reserve := s.Reserve()
	end := time.Now().Add(s.ShutdownTimeout)
	base := context.WithoutCancel(r.appCtx)
	requestsCtx, cancel := context.WithDeadlineCause(r.hardStopCtx, end.Add(-reserve),
		errShutdownTimeout)
	defer cancel()
	tasksCtx, cancel := context.WithDeadlineCause(base, end.Add(-reserve/2), errShutdownTimeout)
	defer cancel()

	errs := []error{r.logPanics("drain", r.lifecycle.Drain(requestsCtx))}
	select {
	case <-r.lifecycle.Ready():
		_ = xretry.Sleep(requestsCtx, s.DrainDelay) // still serving
	default: // never became ready
	}
	errs = append(errs, r.drain(requestsCtx, tasksCtx))
	r.reg.Cancel()
	if err := guard.Call(tasksCtx,
		func(context.Context) error { r.running.Wait(); return nil }); err != nil {
		errs = append(errs, fmt.Errorf("xmain: tasks are %w", err))
	}
	// Close the nodes even if a stalled machine has used up the shutdown timeout.
	nodesCtx, cancel := context.WithTimeoutCause(base, max(time.Until(end), reserve/2),
		errShutdownTimeout)
	defer cancel()
	errs = append(errs, r.reg.CloseNodes(nodesCtx))
	return errors.Join(errs...)
}

// drain concurrently runs the shutdown hooks and drains in-flight requests until ctx is
// done.
func (r *runner) drain(ctx, graceCtx context.Context) error {
	defer r.cancelRequests(nil)
	hooks := make(chan error, 1)
	go func() { hooks <- r.logPanics("shutdown", r.lifecycle.Shutdown(ctx)) }()
	err := r.drainRequests(ctx, graceCtx)
	return errors.Join(err, <-hooks)
}

// drainRequests stops accepting connections, stops the streams and waits for other
// in-flight requests. When ctx is done, it cancels their contexts, closes their
// connections, and waits for their handlers until graceCtx is done.
func (r *runner) drainRequests(ctx, graceCtx context.Context) error {
	s := r.reg.Settings()
	if r.listener == nil { // nothing was served
		if s.Listener == nil {
			return nil
		}
		return s.Listener.Close()
	}
	pendingCtx, cancel := context.WithTimeout(ctx, maxPending)
	r.listener.stopAccepting(pendingCtx)
	waitZero(pendingCtx, &r.traffic.pending)
	cancel()
	left, err := r.awaitRequests(ctx, s.Server)
	if left == 0 && err == nil {
		return nil
	}
	cause := cmp.Or(context.Cause(ctx), errStreamEnd) // if ctx is not done, only streams are left
	r.cancelRequests(stoppingError(cause))
	closeErr := s.Server.Close()
	waitZero(graceCtx, &r.traffic.requests)
	if left > 0 {
		return fmt.Errorf("xmain: requests force-closed: %d: %w", left, context.Cause(ctx))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err()) {
		err = nil // idle connections, or streams whose handlers do not return
	}
	return errors.Join(err, closeErr)
}

// awaitRequests waits for in-flight requests. It returns the number of requests, without
// streams, that are still in flight when ctx is done, and the error of the server.
func (r *runner) awaitRequests(ctx context.Context, server *http.Server) (left int64, err error) {
	shutdownCtx, cancelShutdown := context.WithCancel(ctx)
	defer cancelShutdown()
	shutdown, streamsStopped := make(chan error, 1), make(chan struct{})
	go func() { shutdown <- server.Shutdown(shutdownCtx) }()
	go func() { defer close(streamsStopped); r.traffic.stopStreams(ctx) }()
	left = waitZero(ctx, &r.traffic.requests)
	<-streamsStopped
	streamsCtx, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	if n := waitZero(streamsCtx, &r.traffic.streams); n > 0 {
		r.log.Warn(ctx, "stream handlers did not return", slog.Int64("requests", n))
		cancelShutdown() // Shutdown would wait for them
	}
	return left, errors.Join(<-shutdown, r.listener.Close())
}

// forceClose cancels the requests and tasks of an abandoned shutdown and closes all
// connections.
func (r *runner) forceClose(cause error) {
	r.cancelRequests(stoppingError(cause))
	r.reg.Cancel()
	_ = r.reg.Settings().Server.Close()
	requests := r.traffic.requests.Load() + r.traffic.streams.Load()
	r.log.Warn(r.appCtx, "exiting immediately",
		slog.String("reason", cause.Error()), slog.Int64("requests", requests))
}
