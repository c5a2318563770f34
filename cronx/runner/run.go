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

// The causes with which the context of a run ends.
var (
	// ErrStopped says that the time of the graceful stop has run out. The error of such a
	// stop wraps it.
	ErrStopped = errors.New("cronx/runner: the time for the graceful stop has run out")
	// ErrTimeout says that the time of cronx.WithTimeout has run out.
	ErrTimeout = errors.New("cronx/runner: the run's time has run out")
)

// run runs a tick in this goroutine. ctx has the application's values.
func (s *scheduler) run(ctx context.Context, e *entry, at time.Time) {
	request := xctx.NewRequest(cronx.NewContext(ctx, cronx.Tick{Name: e.name, Time: at}), nil)
	request.GenerateID()
	ctx = request // it is ctx with an id
	if d := e.job.Timeout(); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, ErrTimeout)
		defer cancel()
	}
	defer s.enter(e)()
	s.log.Debug(ctx, "run begins", e.attrs(at)...)
	began := time.Now()
	err := xhook.Guard(func() error { return e.job.Run(ctx) })
	s.report(ctx, e, at, time.Since(began), err)
}

// report writes the line that tells how a run has ended.
func (s *scheduler) report(
	ctx context.Context, e *entry, at time.Time, took time.Duration, err error,
) {
	attrs := e.attrs(at, slog.Duration("took", took))
	cause := context.Cause(ctx)
	var p *xhook.PanicError
	switch {
	case errors.As(err, &p):
		s.log.Error(ctx, "run panicked",
			append(attrs, slog.Any("panic", p.Value), slog.String("stack", string(p.Stack)))...)
	case err != nil:
		s.log.Error(ctx, "run failed", append(attrs, slog.Any("error", err))...)
	case errors.Is(cause, xlease.ErrLost):
		s.log.Warn(ctx, "run ended after its lease was lost: another replica may have run beside it", attrs...)
	case cause != nil:
		s.log.Warn(ctx, "run ended after its context had",
			append(attrs, slog.Any("cause", cause))...)
	default:
		s.log.Info(ctx, "run ended", attrs...)
	}
}
