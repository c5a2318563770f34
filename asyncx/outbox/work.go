package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

const (
	// crowded bounds the pause after a claim of which others have taken everything.
	crowded = 10 * time.Millisecond
	// A statement may take a third of a lease, within these bounds.
	shortest, longest = time.Second, 10 * time.Second
	// soonest is the shortest wait for a job that becomes due: the clock of SQLite has
	// milliseconds.
	soonest = 2 * time.Millisecond
)

// worker is a call of Work.
type worker struct {
	*engine
	driver.Work

	stored   <-chan struct{} // filled when this process has stored jobs
	lease    time.Duration   // how long the table keeps a claim
	patience time.Duration   // how long a statement may take
	settler  settler

	// What follows is the claiming goroutine's.
	factor int    // how many times more candidates it looks at than it wants
	doubt  *claim // one to be given back, such as one whose answer was lost; nil: none

	mu    sync.Mutex
	held  map[*attempt]struct{}
	freed chan struct{} // is filled when a slot becomes free
}

// Work implements driver.Engine.
func (e *engine) Work(ctx context.Context, work driver.Work) error {
	if err := e.open(); err != nil {
		return err
	}
	// A tenth of the time is left for the one who takes over.
	lease := e.takeOver - e.takeOver/10
	w := &worker{
		engine: e, Work: work, lease: lease, patience: min(max(lease/3, shortest), longest),
		factor:  1,
		settler: settler{done: make(chan *success)},
		held:    map[*attempt]struct{}{}, freed: make(chan struct{}, 1),
	}
	var leave func()
	w.stored, leave = e.wakes.Listen()
	defer leave()
	var keeping, running sync.WaitGroup
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	keeping.Go(func() { w.keep(life) })
	keeping.Go(func() { w.settleSuccesses(life) })
	w.loop(ctx, &running)
	running.Wait()
	end()
	keeping.Wait()
	return nil
}

// loop claims jobs and begins them until ctx ends.
func (w *worker) loop(ctx context.Context, running *sync.WaitGroup) {
	life := context.WithoutCancel(ctx)
	pause := xretry.Backoff{First: outagePause, Max: longestPause}
	for {
		n := w.room(ctx)
		if n == 0 {
			break
		}
		b, err := w.interruptible(ctx, n)
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
		// the process was stopped meanwhile
		if len(b.records) > 0 && (ctx.Err() != nil || time.Since(b.since) >= w.lease) {
			w.doubt = &b.claim
			continue
		}
		for _, a := range w.hold(life, b) {
			running.Go(func() { w.attempt(a) })
		}
		w.rest(ctx, b)
	}
	if err := w.giveBack(life); err != nil { // others take them over
		w.failed(ctx, "give back", err)
	}
}

// interruptible claims, and lets what is under way when ctx ends have a moment more: its
// answer would be lost.
func (w *worker) interruptible(ctx context.Context, n int) (batch, error) {
	claiming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if xretry.Sleep(claiming, time.Second) == nil {
			cancel()
		}
	})()
	return w.claim(claiming, n)
}

// room waits until there is something to claim for, and returns for how many jobs: 0
// where ctx has ended.
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

// rest waits until it is worth to look again.
func (w *worker) rest(ctx context.Context, b batch) {
	wait := w.PollInterval/2 + jitter(w.PollInterval)
	switch {
	case b.contended && len(b.records) == 0:
		wait = jitter(crowded)
	case b.more:
		return
	case b.wait < wait: // replicas do not come all at once
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

// failed tells of what goes wrong with the database.
func (w *worker) failed(ctx context.Context, what string, err error) {
	if w.OnError != nil {
		w.OnError(ctx, what, err)
	}
}

// lost tells of an outcome that does not count.
func (w *worker) lost(a *attempt, err error) {
	if w.OnLost != nil {
		w.OnLost(a.ctx, a.begun(), err)
	}
}

// attempt makes an attempt and settles it.
func (w *worker) attempt(a *attempt) {
	o := w.Run(a.ctx, a.begun())
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
