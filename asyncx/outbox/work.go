package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

const (
	// crowded is the maximum pause after a claim that found all candidates claimed by
	// other workers.
	crowded = 10 * time.Millisecond
	// A statement times out after a third of the lease, within these limits.
	minTimeout, maxTimeout = time.Second, 10 * time.Second
	// soonest is the minimum wait for the next due job, because the clock of SQLite has a
	// resolution of 1 ms.
	soonest = 2 * time.Millisecond
)

// worker is a running call of Work.
type worker struct {
	*engine
	driver.Work

	stored  <-chan struct{} // receives when this process stores jobs
	lease   time.Duration   // duration of a claim
	timeout time.Duration   // of a statement
	settler settler

	// Only the claiming goroutine uses the fields below.
	factor      int    // ratio of candidates to requested jobs
	unconfirmed *claim // claim to release, for example after a lost response; may be nil

	mu    sync.Mutex
	held  map[*attempt]struct{}
	freed chan struct{} // receives when a slot becomes free
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, work driver.Work) error {
	if err := e.open(); err != nil {
		return err
	}
	// The rest of the time is left for the takeover.
	lease := e.takeOver - e.takeOver/10
	w := &worker{
		engine: e, Work: work, lease: lease, timeout: min(max(lease/3, minTimeout), maxTimeout),
		factor:  1,
		settler: settler{done: make(chan *success)},
		held:    map[*attempt]struct{}{}, freed: make(chan struct{}, 1),
	}
	var leave func()
	w.stored, leave = e.wakes.Listen()
	defer leave()
	var keeping, running sync.WaitGroup
	workCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	keeping.Go(func() { w.keep(workCtx) })
	keeping.Go(func() { w.settleSuccesses(workCtx) })
	w.loop(ctx, &running)
	running.Wait()
	end()
	keeping.Wait()
	return nil
}

// loop claims and starts jobs until ctx is canceled.
func (w *worker) loop(ctx context.Context, running *sync.WaitGroup) {
	workCtx := context.WithoutCancel(ctx)
	pause := xretry.Backoff{First: outagePause, Max: longestPause}
	for {
		n := w.room(ctx)
		if n == 0 {
			break
		}
		b, err := w.claimWithGrace(ctx, n)
		if err != nil && ctx.Err() == nil {
			w.failed(ctx, "claim", err)
		}
		if err != nil {
			if xretry.Sleep(ctx, pause.Next()) != nil {
				break
			}
			continue
		}
		pause.Reset()
		// the process was suspended or stopped after the claim
		if len(b.records) > 0 && (ctx.Err() != nil || time.Since(b.since) >= w.lease) {
			w.unconfirmed = &b.claim
			continue
		}
		for _, a := range w.hold(workCtx, b) {
			running.Go(func() { w.attempt(a) })
		}
		w.rest(ctx, b)
	}
	if err := w.releaseClaim(workCtx); err != nil { // other workers take over after the lease
		w.failed(ctx, "release", err)
	}
}

// claimWithGrace claims jobs. After the cancellation of ctx it waits up to one second for
// the response.
func (w *worker) claimWithGrace(ctx context.Context, n int) (batch, error) {
	claiming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if xretry.Sleep(claiming, time.Second) == nil {
			cancel()
		}
	})()
	return w.claim(claiming, n)
}

// room waits for free slots and returns their number, or 0 if ctx is canceled.
func (w *worker) room(ctx context.Context) int {
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

// rest waits until the next claim.
func (w *worker) rest(ctx context.Context, b batch) {
	wait := w.PollInterval/2 + jitter(w.PollInterval)
	switch {
	case b.contended && len(b.records) == 0:
		wait = jitter(crowded)
	case b.more:
		return
	case b.wait < wait: // jitter keeps replicas apart
		wait = min(b.wait+soonest+jitter(min(w.PollInterval, crowded)), wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stored:
	case <-ctx.Done():
	}
}

// failed reports a database error.
func (w *worker) failed(ctx context.Context, what string, err error) {
	if w.OnError != nil {
		w.OnError(ctx, what, err)
	}
}

// lost reports an ignored outcome.
func (w *worker) lost(a *attempt, err error) {
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
