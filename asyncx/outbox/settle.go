package outbox

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// settleRows is how many successes one statement writes down.
const settleRows = 100

// settle writes down the end of an attempt. Where the database is away it tries again for
// as long as the lease lasts, so that a job is not repeated for a blip; after that
// somebody repeats it.
func (w *worker) settle(a *attempt, o driver.Outcome) {
	ctx := context.WithoutCancel(a.ctx)
	pause := xretry.Backoff{First: outagePause, Max: longestPause}
	for attempts := 1; ; attempts++ {
		found, err := w.settleOnce(ctx, a, o)
		if err == nil {
			switch {
			case found && (o.Action == driver.Retry || o.Action == driver.Release):
				w.wakes.Wake() // the job is due before the next poll, maybe
			case !found && attempts == 1: // else the lost answer may have been that it was
				w.lost(a, ErrTaken)
			}
			return
		}
		w.failed(ctx, "settle", fmt.Errorf("outbox: settle: %w", err))
		if w.gone(a) || xretry.Sleep(a.ctx, pause.Next()) != nil && w.gone(a) {
			return
		}
	}
}

// gone reports whether an attempt has lost its job, or may have.
func (w *worker) gone(a *attempt) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.lost || a.over()
}

// settleOnce tries. It finds the job only as long as nobody else has claimed it, which is
// what makes a late end harmless.
func (w *worker) settleOnce(
	ctx context.Context, a *attempt, o driver.Outcome,
) (found bool, err error) {
	ids, wait := []string{a.ID}, max(o.Wait, 0).Microseconds()
	switch o.Action {
	case driver.Retry:
		return w.write(ctx, w.sql.retry, wait, wait, nullable(o.Error), ids, a.token)
	case driver.Discard:
		return w.write(ctx, w.sql.bury, nullable(o.Error), ids, a.token)
	case driver.Release:
		return w.write(ctx, w.sql.giveBack, wait, wait, ids, a.token)
	default:
		s := &success{attempt: a, result: make(chan settled, 1)}
		w.settler.done <- s
		r := <-s.result
		return r.found, r.err
	}
}

// nullable is a text as every database keeps it: Oracle takes an empty one for NULL.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// write runs a statement, and reports whether it has changed anything.
func (w *worker) write(ctx context.Context, statement string, args ...any) (found bool, err error) {
	n, err := w.count(ctx, statement, args...)
	return n > 0, err
}

func (w *worker) count(ctx context.Context, statement string, args ...any) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	err = again(ctx, func() error {
		tx := w.session(ctx).Exec(statement, args...)
		n = tx.RowsAffected
		return tx.Error
	})
	return n, err
}

// settler writes down the successes that are there, with one statement, while the next
// ones gather.
type settler struct{ done chan *success }

// success is an attempt that has done its job.
type success struct {
	*attempt
	result chan settled
}

// settled is what became of a success.
type settled struct {
	found bool
	err   error
}

// settleSuccesses writes down what attempts have done until ctx ends, which is after all
// of them.
func (w *worker) settleSuccesses(ctx context.Context) {
	for {
		select {
		case s := <-w.settler.done:
			w.succeed(ctx, w.settler.gather(s))
		case <-ctx.Done():
			return
		}
	}
}

// gather returns the first one and those that are there too.
func (s *settler) gather(first *success) []*success {
	all := []*success{first}
	for len(all) < settleRows {
		select {
		case next := <-s.done:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

// succeed deletes the jobs of a group. One that has lost its job goes by itself: in the
// group it could end the attempt that this worker has begun since.
func (w *worker) succeed(ctx context.Context, all []*success) {
	var group []*success
	for _, s := range all {
		if w.gone(s.attempt) {
			w.delete(ctx, []*success{s})
			continue
		}
		group = append(group, s)
	}
	if len(group) > 0 {
		w.delete(ctx, group)
	}
}

func (w *worker) delete(ctx context.Context, group []*success) {
	attempts := make([]*attempt, len(group))
	for i, s := range group {
		attempts[i] = s.attempt
	}
	ids, tokens := names(attempts)
	n, err := w.count(ctx, w.sql.succeed, ids, tokens)
	if err == nil && n < int64(len(group)) && len(group) > 1 {
		// Which of them nobody can tell: those that count are gone, and so is what
		// another worker has done meanwhile.
		for _, s := range group {
			w.lost(s.attempt, fmt.Errorf(
				"%w, or one of the %d jobs whose ends were written with this one's is: %d of them do not count",
				ErrTaken, len(group), int64(len(group))-n))
		}
		n = 1
	}
	for _, s := range group {
		s.result <- settled{found: n > 0, err: err}
	}
}
