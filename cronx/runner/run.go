package runner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/cronx"
)

// Causes of the canceled context of a run.
var (
	// ErrStopped reports that the graceful stop timeout or the application's shutdown
	// timeout has expired. The error of the shutdown wraps it.
	ErrStopped = errors.New("cronx/runner: graceful stop timeout exceeded")
	// ErrTimeout reports that the timeout of cronx.WithTimeout has expired.
	ErrTimeout = errors.New("cronx/runner: run timed out")
)

// run runs a tick in the current goroutine. ctx carries the application's values.
func (s *scheduler) run(ctx context.Context, e *entry, at time.Time) {
	request := xctx.NewRequest(cronx.NewContext(ctx, cronx.Tick{Name: e.name, Time: at}), nil)
	request.GenerateID()
	ctx = request
	if d := e.job.Timeout(); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, ErrTimeout)
		defer cancel()
	}
	defer s.enter(e)()
	s.log.Debug(ctx, "run started", e.attrs(at)...)
	start := time.Now()
	err := xhook.Guard(func() error { return e.job.Run(ctx) })
	s.report(ctx, e, at, time.Since(start), err)
}

// report logs the result of a run.
func (s *scheduler) report(
	ctx context.Context, e *entry, at time.Time, elapsed time.Duration, err error,
) {
	attrs := e.attrs(at, slog.Duration("took", elapsed))
	cause := context.Cause(ctx)
	var p *xhook.PanicError
	switch {
	case errors.As(err, &p):
		s.log.Error(ctx, "run panicked",
			append(attrs, slog.Any("panic", p.Value), slog.String("stack", string(p.Stack)))...)
	case err != nil:
		s.log.Error(ctx, "run failed", append(attrs, slog.Any("error", err))...)
	case errors.Is(cause, xlease.ErrLost):
		s.log.Warn(ctx, "run finished after its lease was lost", attrs...)
	case cause != nil:
		s.log.Warn(ctx, "run finished after its context was canceled",
			append(attrs, slog.Any("cause", cause))...)
	default:
		s.log.Info(ctx, "run finished", attrs...)
	}
}
