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
	// maxNap is the maximum interval between two checks of the wall clock, which may be
	// adjusted or continue during a suspend.
	maxNap = 10 * time.Second
	// maxBack is the maximum clock adjustment for which jobs wait until the clock has
	// caught up, so that no tick runs twice. A larger adjustment corrects a wrong clock.
	maxBack = time.Hour
)

// entry is a scheduled job.
type entry struct {
	job      *cronx.Job
	name     string
	schedule cronx.Schedule
	next     time.Time   // the next tick, or zero; only the loop uses it
	busy     atomic.Bool // running, for a job without overlap and single run
}

// scheduler runs the jobs of one Serve call.
type scheduler struct {
	*config
	entries []*entry
	leases  *xlease.Leases

	app       context.Context    // values of the application
	quit      context.Context    // canceled when no run may start
	end       context.CancelFunc // cancels quit
	runs      context.Context    // parent of all runs
	cancelAll context.CancelCauseFunc

	last   time.Time // the time of the last check
	looped chan struct{}

	running  sync.WaitGroup
	mu       sync.Mutex
	active   map[string]int // number of running or claimed ticks per job
	canceled []string       // jobs that shutdown canceled

	once    sync.Once
	stopped chan struct{} // closed after shutdown
	err     error         // of the shutdown
}

func newScheduler(ctx context.Context, c *config) *scheduler {
	s := &scheduler{
		config: c, app: context.WithoutCancel(ctx), looped: make(chan struct{}),
		stopped: make(chan struct{}), active: map[string]int{},
	}
	s.quit, s.end = context.WithCancel(s.app)
	s.runs, s.cancelAll = context.WithCancelCause(s.app)
	return s
}

// live runs the jobs until ctx is canceled or the shutdown hook is called, which is
// earlier in an application.
func (s *scheduler) live(ctx context.Context, started func()) error {
	defer s.cancelAll(nil)
	defer s.end()
	now := s.clock()
	s.last = now
	for _, e := range s.entries {
		e.next = e.schedule.Next(now)
	}
	s.announce(ctx, now)
	xhook.OnShutdown(ctx, name, s.stop)
	go s.loop(ctx.Done(), xhook.Draining(ctx)) // runs outlast ctx; stop waits for them
	started()
	select {
	case <-s.stopped:
	case <-ctx.Done():
	}
	// the same error value, so that the application does not report it twice
	return s.stop(context.WithoutCancel(ctx))
}

// clock returns the wall clock without the monotonic clock.
func (s *scheduler) clock() time.Time { return s.now().Round(0) }

// loop starts due runs until shutdown.
func (s *scheduler) loop(ctxDone, draining <-chan struct{}) {
	defer close(s.looped)
	defer s.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.quit.Done():
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

// check starts due runs, and returns the time until the next check.
func (s *scheduler) check(now time.Time) time.Duration {
	if back := s.last.Sub(now); back > maxBack {
		s.log.Warn(s.app, "clock was set back",
			slog.Duration("by", back))
		for _, e := range s.entries {
			e.next = e.schedule.Next(now)
		}
	}
	s.last = now
	nap := maxNap
	for _, e := range s.entries {
		s.due(e, now)
		if !e.next.IsZero() {
			nap = min(nap, e.next.Sub(now))
		}
	}
	return nap
}

// due starts the due runs of a job, and logs missed ticks.
func (s *scheduler) due(e *entry, now time.Time) {
	if !e.next.IsZero() && now.Sub(e.next) > maxLate {
		s.log.Warn(s.app, "ticks missed: process suspended or clock set forward",
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
		s.run(s.runs, e, at)
	})
}

// skip logs a tick that is skipped because a run is in progress.
func (s *scheduler) skip(e *entry, at time.Time) {
	s.log.Warn(s.app, "tick skipped: previous run in progress", e.attrs(at)...)
}

// attrs returns the attributes of log messages about a tick.
func (e *entry) attrs(at time.Time, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{slog.String("job", e.name), slog.Time("tick", at)}, more...)
}
