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

// maxPending bounds how long a connection that was just accepted is given to bring its
// first request.
const maxPending = time.Second

// errTime is the cause of a stop that took too long.
var errTime = errors.New("the shutdown timeout has run out")

// errOvertime is the error of a stop that goes on after the shutdown timeout.
var errOvertime = errors.New("xmain: stop abandoned, it went on after the shutdown timeout")

// cut is the cause with which the contexts of requests end that the stop does not wait
// for: not their clients have given them up.
func cut(why error) error {
	return xerror.Wrap(xerror.ServiceUnavailable, "the service is stopping",
		fmt.Errorf("%w: %w", why, context.Canceled))
}

// stop takes the application from serving to closed, apart from the log, and returns what
// went wrong.
//
// Requests and shutdown hooks have the shutdown timeout but for its reserve; of that,
// tasks have half. So a stream that never ends cannot keep the nodes from being closed.
func (r *runner) stop() error {
	s := r.reg.Settings()
	reserve := s.Reserve()
	end := time.Now().Add(s.ShutdownTimeout)
	base := context.WithoutCancel(r.app)
	forRequests, cancel := context.WithDeadlineCause(r.abandoned, end.Add(-reserve), errTime)
	defer cancel()
	forTasks, cancel := context.WithDeadlineCause(base, end.Add(-reserve/2), errTime)
	defer cancel()

	errs := []error{r.panics("drain", r.life.Drain(forRequests))}
	select {
	case <-r.life.Readied():
		_ = xretry.Sleep(forRequests, s.DrainDelay) // and go on serving
	default: // it never was ready
	}
	errs = append(errs, r.drain(forRequests, forTasks))
	r.reg.Cancel()
	if err := guard.Call(forTasks,
		func(context.Context) error { r.running.Wait(); return nil }); err != nil {
		errs = append(errs, fmt.Errorf("xmain: tasks are %w", err))
	}
	// Also where a stalled machine has eaten all the time, what is left is closed.
	forNodes, cancel := context.WithTimeoutCause(base, max(time.Until(end), reserve/2), errTime)
	defer cancel()
	errs = append(errs, r.reg.CloseNodes(forNodes))
	return errors.Join(errs...)
}

// drain runs the shutdown hooks and finishes the requests in flight, both at the same
// time, until ctx ends.
func (r *runner) drain(ctx, grace context.Context) error {
	defer r.cancelRequests(nil)
	hooks := make(chan error, 1)
	go func() { hooks <- r.panics("shutdown", r.life.Shutdown(ctx)) }()
	err := r.finish(ctx, grace)
	return errors.Join(err, <-hooks)
}

// finish stops accepting, ends the streams and waits for the other requests in flight.
// When ctx ends, their contexts are cancelled and their connections closed; grace is how
// long their handlers then have to return.
func (r *runner) finish(ctx, grace context.Context) error {
	s := r.reg.Settings()
	if r.listener == nil { // nothing was ever served
		if s.Listener == nil {
			return nil
		}
		return s.Listener.Close()
	}
	pending, cancel := context.WithTimeout(ctx, maxPending)
	r.listener.refuse(pending)
	wait(pending, &r.traffic.pending)
	cancel()
	left, err := r.awaitRequests(ctx, s.Server)
	if left == 0 && err == nil {
		return nil
	}
	why := cmp.Or(context.Cause(ctx), errStreamEnd) // before the end of ctx only streams are left
	r.cancelRequests(cut(why))
	closeErr := s.Server.Close()
	wait(grace, &r.traffic.requests)
	if left > 0 {
		return fmt.Errorf("xmain: %d requests were cut off: %w", left, context.Cause(ctx))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err()) {
		err = nil // connections without a request, or streams whose handlers do not return
	}
	return errors.Join(err, closeErr)
}

// awaitRequests returns how many requests are left when ctx ends, without the streams,
// and the error of the server.
func (r *runner) awaitRequests(ctx context.Context, server *http.Server) (left int64, err error) {
	shutting, abandon := context.WithCancel(ctx)
	defer abandon()
	shutdown, ended := make(chan error, 1), make(chan struct{})
	go func() { shutdown <- server.Shutdown(shutting) }()
	go func() { defer close(ended); r.traffic.stopStreams(ctx) }()
	left = wait(ctx, &r.traffic.requests)
	<-ended
	forStreams, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	if n := wait(forStreams, &r.traffic.streams); n > 0 {
		r.log.Warn(ctx, "handlers of streams do not return", slog.Int64("requests", n))
		abandon() // the server would wait for them
	}
	return left, errors.Join(<-shutdown, r.listener.Close())
}

// cutOff ends everything that an abandoned stop has left.
func (r *runner) cutOff(why error) {
	r.cancelRequests(cut(why))
	r.reg.Cancel()
	_ = r.reg.Settings().Server.Close()
	requests := r.traffic.requests.Load() + r.traffic.streams.Load()
	r.log.Warn(r.app, "ending at once",
		slog.String("reason", why.Error()), slog.Int64("requests", requests))
}
