package runner

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/cronx"
)

const (
	// maxLate is the maximum delay of a run.
	maxLate = 30 * time.Second
	// maxSleep is the maximum interval between two checks of the wall clock, which can be
	// adjusted, and which advances while the process is suspended.
	maxSleep = 10 * time.Second
	// If the clock is set back by at most maxSetBack, jobs wait until it has caught up,
	// so that no tick runs twice. A larger adjustment corrects a wrong clock, so jobs
	// follow it.
	maxSetBack = time.Hour
)

// entry is a scheduled job.
type entry struct {
	job      *cronx.Job
	name     string
	schedule cronx.Schedule
	next     time.Time   // the next tick, or zero; only the loop uses it
	busy     atomic.Bool // a run is in progress; unused for jobs with overlap or single run
}

// scheduler runs the jobs of one Serve call.
type scheduler struct {
	*config
	entries []*entry
	leases  *xlease.Leases

	appCtx      context.Context // values of the application; never canceled
	stopCtx     context.Context // canceled when no more runs may start
	requestStop context.CancelFunc
	runsCtx     context.Context // parent of the contexts of all runs
	cancelAll   context.CancelCauseFunc

	lastCheck time.Time
	loopDone  chan struct{}

	running  sync.WaitGroup
	mu       sync.Mutex
	active   map[string]int // number of running or claimed ticks per job
	canceled []string       // jobs whose runs the shutdown canceled

	stopOnce sync.Once
	stopped  chan struct{} // closed after the shutdown
	stopErr  error         // result of the shutdown
}

func newScheduler(ctx context.Context, c *config) *scheduler {
	s := &scheduler{
		config: c, appCtx: context.WithoutCancel(ctx), loopDone: make(chan struct{}),
		stopped: make(chan struct{}), active: map[string]int{},
	}
	s.stopCtx, s.requestStop = context.WithCancel(s.appCtx)
	s.runsCtx, s.cancelAll = context.WithCancelCause(s.appCtx)
	return s
}

// runUntilStopped runs the jobs until ctx is canceled or the shutdown hook is called. An
// application calls the hook before it cancels ctx.
func (s *scheduler) runUntilStopped(ctx context.Context, started func()) error {
	defer s.cancelAll(nil)
	defer s.requestStop()
	now := s.clock()
	s.lastCheck = now
	for _, e := range s.entries {
		e.next = e.schedule.Next(now)
	}
	s.announce(ctx, now)
	xhook.OnShutdown(ctx, name, s.stop)
	go s.loop(ctx.Done(), xhook.Draining(ctx)) // runs may outlast ctx; stop waits for them
	started()
	select {
	case <-s.stopped:
	case <-ctx.Done():
	}
	// the same error value, so that the application does not report it twice
	return s.stop(context.WithoutCancel(ctx))
}

// clock returns the time of the wall clock, without a monotonic reading.
func (s *scheduler) clock() time.Time { return s.now().Round(0) }

// loop starts due runs until the shutdown starts.
func (s *scheduler) loop(ctxDone, draining <-chan struct{}) {
	defer close(s.loopDone)
	defer s.requestStop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.stopCtx.Done():
			return
		case <-ctxDone:
			return
		case <-draining:
			return
		case <-timer.C:
		}
		timer.Reset(s.check(s.clock()))
	}
}

// check starts the due runs of all jobs and returns the time until the next check.
func (s *scheduler) check(now time.Time) time.Duration {
	if back := s.lastCheck.Sub(now); back > maxSetBack {
		s.log.Warn(s.appCtx, "clock was set back", slog.Duration("by", back))
		for _, e := range s.entries {
			e.next = e.schedule.Next(now)
		}
	}
	s.lastCheck = now
	sleep := maxSleep
	for _, e := range s.entries {
		s.startDue(e, now)
		if !e.next.IsZero() {
			sleep = min(sleep, e.next.Sub(now))
		}
	}
	return sleep
}

// startDue starts the due runs of a job and logs missed ticks.
func (s *scheduler) startDue(e *entry, now time.Time) {
	if !e.next.IsZero() && now.Sub(e.next) > maxLate {
		s.log.Warn(s.appCtx, "ticks missed: process suspended or clock set forward",
			slog.String("job", e.name), slog.Time("first", e.next))
		e.next = e.schedule.Next(now.Add(-maxLate - 1))
	}
	for !e.next.IsZero() && !e.next.After(now) {
		s.start(e, e.next)
		e.next = e.schedule.Next(e.next)
	}
}

// start runs a tick in the background, or skips it if it would overlap.
func (s *scheduler) start(e *entry, at time.Time) {
	if e.job.SingleRun() {
		s.running.Go(func() { s.runOnce(e, at) })
		return
	}
	exclusive := !e.job.Overlap()
	if exclusive && !e.busy.CompareAndSwap(false, true) {
		s.skip(e, at)
		return
	}
	s.running.Go(func() {
		if exclusive {
			defer e.busy.Store(false)
		}
		s.run(s.runsCtx, e, at)
	})
}

// skip logs a tick that is skipped because a run is in progress.
func (s *scheduler) skip(e *entry, at time.Time) {
	s.log.Warn(s.appCtx, "tick skipped: previous run in progress", e.attrs(at)...)
}

// attrs returns the attributes of log messages about a tick.
func (e *entry) attrs(at time.Time, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{slog.String("job", e.name), slog.Time("tick", at)}, more...)
}
