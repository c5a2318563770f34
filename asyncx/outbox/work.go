package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

const (
	// contendedPause is the maximum pause after a claim whose candidates other workers
	// claimed first.
	contendedPause = 10 * time.Millisecond
	// A statement times out after a third of the lease, within these limits.
	minTimeout, maxTimeout = time.Second, 10 * time.Second
	// minDuePause is the minimum wait for the next due job, because the clock of SQLite
	// has a resolution of 1 ms.
	minDuePause = 2 * time.Millisecond
)

// worker is a running call of Work.
type worker struct {
	*engine
	driver.Work

	stored  <-chan struct{} // receives when this process stores jobs
	lease   time.Duration   // duration of a lease
	timeout time.Duration   // timeout of a statement
	settler settler

	// Only the claiming goroutine uses the fields below.
	factor      int    // ratio of candidates to requested jobs
	unconfirmed *claim // claim to release, for example after a lost response, or nil

	mu    sync.Mutex
	held  map[*attempt]struct{}
	freed chan struct{} // receives when a slot becomes free
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, work driver.Work) error {
	if err := e.open(); err != nil {
		return err
	}
	// Other workers need the remaining time for the takeover.
	lease := e.takeOver - e.takeOver/10
	w := &worker{
		engine: e, Work: work, lease: lease, timeout: min(max(lease/3, minTimeout), maxTimeout),
		factor:  1,
		settler: settler{done: make(chan *success)},
		held:    map[*attempt]struct{}{}, freed: make(chan struct{}, 1),
	}
	var leave func()
	w.stored, leave = e.workers.Listen()
	defer leave()
	var background, running sync.WaitGroup
	workCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	background.Go(func() { w.renewLoop(workCtx) })
	background.Go(func() { w.settleSuccesses(workCtx) })
	w.loop(ctx, &running)
	running.Wait()
	end()
	background.Wait()
	return nil
}

// loop claims and starts jobs until ctx is canceled.
func (w *worker) loop(ctx context.Context, running *sync.WaitGroup) {
	workCtx := context.WithoutCancel(ctx)
	pause := xretry.Backoff{First: outagePause, Max: longestPause}
	for {
		n := w.freeSlots(ctx)
		if n == 0 {
			break
		}
		b, err := w.claimWithGrace(ctx, n)
		if err != nil && ctx.Err() == nil {
			w.reportError(ctx, "claim", err)
		}
		if err != nil {
			if xretry.Sleep(ctx, pause.Next()) != nil {
				break
			}
			continue
		}
		pause.Reset()
		// The worker is stopping, or the process was suspended after the claim.
		if len(b.records) > 0 && (ctx.Err() != nil || time.Since(b.since) >= w.lease) {
			w.unconfirmed = &b.claim
			continue
		}
		for _, a := range w.hold(workCtx, b) {
			running.Go(func() { w.attempt(a) })
		}
		w.pauseAfter(ctx, b)
	}
	// if this fails, other workers take over after the lease expires
	if err := w.releaseClaim(workCtx); err != nil {
		w.reportError(ctx, "release", err)
	}
}

// claimWithGrace claims jobs. If ctx is canceled, it waits up to one more second for the
// response.
func (w *worker) claimWithGrace(ctx context.Context, n int) (batch, error) {
	claimCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if xretry.Sleep(claimCtx, time.Second) == nil {
			cancel()
		}
	})()
	return w.claim(claimCtx, n)
}

// freeSlots waits for free slots and returns their number, or 0 if ctx is canceled.
func (w *worker) freeSlots(ctx context.Context) int {
	for ctx.Err() == nil {
		w.mu.Lock()
		n := w.Concurrency - len(w.held)
		w.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-w.freed:
		case <-ctx.Done():
		}
	}
	return 0
}

// pauseAfter waits until the next claim after b.
func (w *worker) pauseAfter(ctx context.Context, b batch) {
	wait := w.PollInterval/2 + jitter(w.PollInterval)
	switch {
	case b.contended && len(b.records) == 0:
		wait = jitter(contendedPause)
	case b.more:
		return
	case b.wait < wait: // jitter, so that replicas claim at different times
		wait = min(b.wait+minDuePause+jitter(min(w.PollInterval, contendedPause)), wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stored:
	case <-ctx.Done():
	}
}

// reportError reports a failed operation on the database.
func (w *worker) reportError(ctx context.Context, operation string, err error) {
	if w.OnError != nil {
		w.OnError(ctx, operation, err)
	}
}

// reportLost reports an ignored outcome.
func (w *worker) reportLost(a *attempt, err error) {
	if w.OnLost != nil {
		w.OnLost(a.ctx, a.driverAttempt(), err)
	}
}

// attempt runs an attempt and stores its outcome.
func (w *worker) attempt(a *attempt) {
	o := w.Run(a.ctx, a.driverAttempt())
	w.settle(a, o)
	a.end(nil)
	w.mu.Lock()
	delete(w.held, a)
	w.mu.Unlock()
	select {
	case w.freed <- struct{}{}:
	default:
	}
}
