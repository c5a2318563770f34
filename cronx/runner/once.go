package runner

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// A tick is taken under a short lease, whose mark says which ticks were taken. The mark
// is at the backend before the run begins: so a tick is run at most once, whatever
// happens then. Runs that must not overlap hold a lease of their own.
const (
	takeName = "plinth.cron/"
	runName  = "plinth.cron.run/"

	// takeTTL is how long a replica that dies while it takes a tick holds up the others.
	// They wait longer than that.
	takeTTL  = 15 * time.Second
	callTime = 5 * time.Second // of one call: two fit into what a holder may use of the TTL
	patience = maxLate

	// By the backend's clock, which is the same for all, a tick is taken from maxEarly
	// before its time until maxOverdue after. The backend keeps a mark for at least a
	// minute (driver.Ended), so that it is there as long as anyone may take the tick
	// again.
	maxEarly   = 5 * time.Second
	maxOverdue = 50 * time.Second

	// runPatience is how long a run waits for the lease of the one before, which may be
	// about to be given back.
	runPatience = 3 * time.Second

	minPause = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// outcome is what becomes of a tick.
type outcome uint8

const (
	unknown   outcome = iota // ask again
	taken                    // by this process
	elsewhere                // by another
	early                    // it is due soon, by the backend's clock
	offTime                  // it was due long ago, or is due much later
	stopping                 // the stop has begun
)

// runOnce runs a tick unless another replica does.
func (s *scheduler) runOnce(e *entry, at time.Time) {
	if !s.take(e, at) {
		return
	}
	if e.job.Overlap() {
		s.run(s.runs, e, at)
		return
	}
	lease := s.leaseRun(e, at)
	if lease == nil {
		return
	}
	ctx, cancel := lease.Bind(s.runs)
	defer func() {
		cancel()
		ctx, cancel := context.WithTimeout(s.app, callTime)
		defer cancel()
		if err := lease.Release(ctx); err != nil && !errors.Is(err, xlease.ErrLost) {
			s.log.Warn(ctx, "the lease of a run was not given back and ends by itself",
				e.attrs(at, slog.Any("error", err))...)
		}
	}()
	s.run(ctx, e, at)
}

// take reports whether this process is to run the tick.
func (s *scheduler) take(e *entry, at time.Time) bool {
	end := time.NewTimer(patience)
	defer end.Stop()
	unanswered := false // an attempt may have taken it without knowing
	for pause := minPause; ; pause = min(pause*2, maxPause) {
		o, off, err := s.tryTake(e, at)
		switch o {
		case unknown:
			unanswered = unanswered || errors.Is(err, errUnanswered)
		case early:
			end.Reset(off + patience)
			pause = 2 * off // of which at least a half
		case taken, elsewhere, offTime, stopping:
			s.tell(e, at, o, off, unanswered)
			return o == taken
		}
		select {
		case <-time.After(spread(pause)):
		case <-s.quit.Done():
			s.tell(e, at, stopping, off, unanswered)
			return false
		case <-end.C:
			s.log.Warn(s.app, "tick not run: no answer about who runs it",
				e.attrs(at, slog.Any("error", err))...)
			return false
		}
	}
}

// tell tells why a tick is not run here, where that is no good news.
func (s *scheduler) tell(e *entry, at time.Time, o outcome, ahead time.Duration, unanswered bool) {
	switch {
	case o == offTime:
		s.log.Warn(s.app, "tick not run: by the clock of what keeps the leases it was due too long ago, or is due much later",
			e.attrs(at, slog.Duration("ahead", ahead))...)
	case o == stopping:
		s.log.Warn(s.app, "tick not run: the stop has begun before it was taken; another replica may run it", e.attrs(at)...)
	case o == elsewhere && unanswered:
		s.log.Warn(s.app, "tick not run: an attempt to take it got no answer, and it is taken now",
			e.attrs(at)...)
	}
}

// spread returns a random time from half of d to d.
func spread(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}

// errUnanswered says that nobody knows whether a tick was taken.
var errUnanswered = errors.New("cronx/runner: the backend did not confirm that the tick is taken")

// tryTake asks the backend once. ahead is how far the tick is away by the backend's
// clock. What is under way is brought to its end also where the stop begins: others could
// not know what became of the tick.
func (s *scheduler) tryTake(e *entry, at time.Time) (_ outcome, ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(s.app, callTime)
	lease, err := s.leases.Lease(ctx, takeName+e.name, takeTTL, xlease.WithMark(0, 0),
		xlease.WithManualRenewal())
	cancel()
	if err != nil {
		return unknown, 0, err
	}
	ahead = at.Sub(time.UnixMicro(lease.Token())) // tokens are the backend's time
	next, o := mark(lease.Mark()).take(at.Unix())
	switch {
	case o != taken:
	case s.quit.Err() != nil:
		o = stopping
	case -ahead > maxOverdue || ahead-maxEarly > patience:
		o = offTime
	case ahead > maxEarly:
		o, ahead = early, ahead-maxEarly
	default:
		lease.SetMark(int64(next))
	}
	ctx, cancel = context.WithTimeout(s.app, callTime)
	defer cancel()
	if err = lease.Release(ctx); err != nil && o == taken {
		return unknown, 0, errors.Join(errUnanswered, err)
	}
	return o, ahead, nil
}

// leaseRun returns the lease under which the tick's run is alone, or nil where another
// run goes on.
func (s *scheduler) leaseRun(e *entry, at time.Time) *xlease.Lease {
	defer s.enter(e)()
	ctx, cancel := context.WithTimeout(s.runs, patience)
	defer cancel()
	began := time.Now()
	pause := xretry.Backoff{First: minPause, Max: maxPause}
	for {
		attempt, done := context.WithTimeout(ctx, callTime)
		lease, err := s.leases.Lease(attempt, runName+e.name, s.leaseTTL)
		done()
		switch {
		case err == nil:
			return lease
		case errors.Is(err, xlease.ErrHeld) && time.Since(began) >= runPatience:
			s.skip(e, at)
			return nil
		}
		if xretry.Sleep(ctx, pause.Next()) != nil {
			s.log.Warn(s.app, "tick not run: it was taken, and then nobody answered",
				e.attrs(at, slog.Any("error", err))...)
			return nil
		}
	}
}
