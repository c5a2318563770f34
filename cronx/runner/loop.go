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
	// maxLate is how long after its time a tick is still run.
	maxLate = 30 * time.Second
	// maxNap is the longest sleep between two looks at the wall clock, which may be set,
	// or go on while the machine sleeps.
	maxNap = 10 * time.Second
	// maxBack is how far the clock may be set back without ticks being run again: they
	// wait for it. After more than that it is taken for a clock that was wrong.
	maxBack = time.Hour
)

// entry is a job in the hands of a scheduler.
type entry struct {
	job      *cronx.Job
	name     string
	schedule cronx.Schedule
	next     time.Time   // the tick that comes, or zero; of the loop
	busy     atomic.Bool // a run goes on, for a job that neither overlaps nor asks other replicas
}

// scheduler is one life of the jobs.
type scheduler struct {
	*config
	entries []*entry
	leases  *xlease.Leases

	app  context.Context    // the application's, for its values
	quit context.Context    // ends when no run begins any more
	end  context.CancelFunc // of quit
	runs context.Context    // the base of what runs
	cut  context.CancelCauseFunc

	last   time.Time // the clock at the last look
	looped chan struct{}

	running sync.WaitGroup
	mu      sync.Mutex
	under   map[string]int // how many ticks of each job are run, or were taken to be run
	lost    []string       // what of these the stop has cut off

	once    sync.Once
	stopped chan struct{} // closed when the stop is complete
	err     error         // of the stop
}

func newScheduler(ctx context.Context, c *config) *scheduler {
	s := &scheduler{
		config: c, app: context.WithoutCancel(ctx), looped: make(chan struct{}),
		stopped: make(chan struct{}), under: map[string]int{},
	}
	s.quit, s.end = context.WithCancel(s.app)
	s.runs, s.cut = context.WithCancelCause(s.app)
	return s
}

// live runs the jobs until ctx ends, or until the application's stop comes to them, which
// is earlier.
func (s *scheduler) live(ctx context.Context, started func()) error {
	defer s.cut(nil)
	defer s.end()
	now := s.clock()
	s.last = now
	for _, e := range s.entries {
		e.next = e.schedule.Next(now)
	}
	s.announce(ctx, now)
	xhook.OnShutdown(ctx, name, s.stop)
	go s.loop(ctx.Done(), xhook.Draining(ctx)) // runs outlast ctx: the stop waits for them
	started()
	select {
	case <-s.stopped:
	case <-ctx.Done():
	}
	// itself: so the application sees that it is what the hook has told already
	return s.stop(context.WithoutCancel(ctx))
}

// clock returns what the wall clock shows.
func (s *scheduler) clock() time.Time { return s.now().Round(0) }

// loop begins what is due until the stop begins.
func (s *scheduler) loop(ended, draining <-chan struct{}) {
	defer close(s.looped)
	defer s.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.quit.Done():
			return
		case <-ended:
			return
		case <-draining:
			return
		case <-timer.C:
		}
		timer.Reset(s.look(s.clock()))
	}
}

// look begins what is due now, and returns how long to sleep.
func (s *scheduler) look(now time.Time) time.Duration {
	if back := s.last.Sub(now); back > maxBack {
		s.log.Warn(s.app, "the clock was set back: jobs are due by what it shows now",
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

// due begins the runs of a job whose ticks have come, and tells of those that have
// passed.
func (s *scheduler) due(e *entry, now time.Time) {
	if !e.next.IsZero() && now.Sub(e.next) > maxLate {
		s.log.Warn(s.app, "ticks missed: the process or the machine stood still, or the clock was set forward",
			slog.String("job", e.name), slog.Time("first", e.next))
		e.next = e.schedule.Next(now.Add(-maxLate - 1))
	}
	for !e.next.IsZero() && !e.next.After(now) {
		s.begin(e, e.next)
		e.next = e.schedule.Next(e.next)
	}
}

// begin runs a tick in the background, unless an earlier run goes on that it must not
// overlap.
func (s *scheduler) begin(e *entry, at time.Time) {
	if e.job.SingleRun() {
		s.running.Go(func() { s.runOnce(e, at) })
		return
	}
	alone := !e.job.Overlap()
	if alone && !e.busy.CompareAndSwap(false, true) {
		s.skip(e, at)
		return
	}
	s.running.Go(func() {
		if alone {
			defer e.busy.Store(false)
		}
		s.run(s.runs, e, at)
	})
}

// skip tells of a tick that is not run because a run goes on.
func (s *scheduler) skip(e *entry, at time.Time) {
	s.log.Warn(s.app, "tick skipped: the run before goes on", e.attrs(at)...)
}

// attrs are what every line about a tick has.
func (e *entry) attrs(at time.Time, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{slog.String("job", e.name), slog.Time("tick", at)}, more...)
}
