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

// A replica claims a tick under a short lease, whose mark contains the claimed ticks. The
// backend stores the mark before the run starts, so that each tick runs at most once.
// During a run without overlap the replica holds a second lease.
const (
	claimName = "plinth.cron/"
	runName   = "plinth.cron.run/"

	// claimTTL is how long a replica that crashes during a claim blocks the others. It is
	// shorter than claimTimeout.
	claimTTL     = 15 * time.Second
	callTimeout  = 5 * time.Second // of one call; two calls fit into the usable part of the TTL
	claimTimeout = maxLate

	// By the backend's clock, a tick can be claimed from maxEarly before its time until
	// maxOverdue after it. The backend retains a mark for at least one minute
	// (driver.Retention), which is longer than the tick can be claimed.
	maxEarly   = 5 * time.Second
	maxOverdue = 50 * time.Second

	// maxRunWait is how long a run waits for the lease of the previous run, which may be
	// about to finish.
	maxRunWait = 3 * time.Second

	minPause = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// outcome is the result of a claim.
type outcome uint8

const (
	unknown          outcome = iota // the caller retries
	claimed                         // by this process
	claimedElsewhere                // by another process
	early                           // due soon, by the backend's clock
	outOfRange                      // due too long ago or much later, by the backend's clock
	stopping                        // the shutdown has started
)

// runOnce runs a tick unless another replica has claimed it.
func (s *scheduler) runOnce(e *entry, at time.Time) {
	if !s.claim(e, at) {
		return
	}
	if e.job.Overlap() {
		s.run(s.runsCtx, e, at)
		return
	}
	lease := s.leaseRun(e, at)
	if lease == nil {
		return
	}
	ctx, cancel := lease.Bind(s.runsCtx)
	defer func() {
		cancel()
		ctx, cancel := context.WithTimeout(s.appCtx, callTimeout)
		defer cancel()
		if err := lease.Release(ctx); err != nil && !errors.Is(err, xlease.ErrLost) {
			s.log.Warn(ctx, "run lease not released, will expire",
				e.attrs(at, slog.Any("error", err))...)
		}
	}()
	s.run(ctx, e, at)
}

// claim tries to claim the tick for up to claimTimeout. It reports whether this process
// has claimed it.
func (s *scheduler) claim(e *entry, at time.Time) bool {
	timeout := time.NewTimer(claimTimeout)
	defer timeout.Stop()
	unconfirmed := false // an unconfirmed attempt may have claimed the tick
	for pause := minPause; ; pause = min(pause*2, maxPause) {
		o, ahead, err := s.tryClaim(e, at)
		switch o {
		case unknown:
			unconfirmed = unconfirmed || errors.Is(err, errUnconfirmed)
		case early:
			timeout.Reset(ahead + claimTimeout)
			pause = 2 * ahead // spread waits for at least half of it
		case claimed, claimedElsewhere, outOfRange, stopping:
			s.logSkipped(e, at, o, ahead, unconfirmed)
			return o == claimed
		}
		select {
		case <-time.After(spread(pause)):
		case <-s.stopCtx.Done():
			s.logSkipped(e, at, stopping, ahead, unconfirmed)
			return false
		case <-timeout.C:
			s.log.Warn(s.appCtx, "tick not run: backend unavailable",
				e.attrs(at, slog.Any("error", err))...)
			return false
		}
	}
}

// logSkipped logs why this process does not run a tick, unless another replica runs it.
func (s *scheduler) logSkipped(
	e *entry, at time.Time, o outcome, ahead time.Duration, unconfirmed bool,
) {
	switch {
	case o == outOfRange:
		s.log.Warn(s.appCtx, "tick not run: clock differs from the backend",
			e.attrs(at, slog.Duration("ahead", ahead))...)
	case o == stopping:
		s.log.Warn(s.appCtx, "tick not run: shutdown started", e.attrs(at)...)
	case o == claimedElsewhere && unconfirmed:
		s.log.Warn(s.appCtx, "tick not run: claim not confirmed", e.attrs(at)...)
	}
}

// spread returns a random duration between d/2 and d.
func spread(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}

// errUnconfirmed reports that the backend has not confirmed a claim.
var errUnconfirmed = errors.New("cronx/runner: claim not confirmed by the backend")

// tryClaim tries once to claim the tick. ahead is the time until the tick by the clock of
// the backend. Shutdown does not cancel the calls, because an unconfirmed claim would
// prevent other replicas from running the tick.
func (s *scheduler) tryClaim(e *entry, at time.Time) (_ outcome, ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(s.appCtx, callTimeout)
	lease, err := s.leases.Lease(ctx, claimName+e.name, claimTTL, xlease.WithMark(0, 0),
		xlease.WithManualRenewal())
	cancel()
	if err != nil {
		return unknown, 0, err
	}
	ahead = at.Sub(time.UnixMicro(lease.Token())) // tokens are the backend's time
	next, o := mark(lease.Mark()).claim(at.Unix())
	switch {
	case o != claimed:
	case s.stopCtx.Err() != nil:
		o = stopping
	case -ahead > maxOverdue || ahead-maxEarly > claimTimeout:
		o = outOfRange
	case ahead > maxEarly:
		o, ahead = early, ahead-maxEarly
	default:
		lease.SetMark(int64(next))
	}
	ctx, cancel = context.WithTimeout(s.appCtx, callTimeout)
	defer cancel()
	if err = lease.Release(ctx); err != nil && o == claimed {
		return unknown, 0, errors.Join(errUnconfirmed, err)
	}
	return o, ahead, nil
}

// leaseRun returns a lease that excludes overlapping runs, or nil if another run is in
// progress.
func (s *scheduler) leaseRun(e *entry, at time.Time) *xlease.Lease {
	defer s.enter(e)()
	ctx, cancel := context.WithTimeout(s.runsCtx, claimTimeout)
	defer cancel()
	start := time.Now()
	pause := xretry.Backoff{First: minPause, Max: maxPause}
	for {
		attempt, done := context.WithTimeout(ctx, callTimeout)
		lease, err := s.leases.Lease(attempt, runName+e.name, s.leaseTTL)
		done()
		switch {
		case err == nil:
			return lease
		case errors.Is(err, xlease.ErrHeld) && time.Since(start) >= maxRunWait:
			s.skip(e, at)
			return nil
		}
		if xretry.Sleep(ctx, pause.Next()) != nil {
			s.log.Warn(s.appCtx, "tick not run: claimed, then backend unavailable",
				e.attrs(at, slog.Any("error", err))...)
			return nil
		}
	}
}
