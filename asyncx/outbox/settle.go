package outbox

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// settleRows is the maximum number of successes that one statement stores.
const settleRows = 100

// settle stores the outcome of an attempt. If the database is unavailable, it retries
// until the lease expires, so that the job does not run again after a short outage. After
// that, another worker runs the job again.
func (w *worker) settle(a *attempt, o driver.Outcome) {
	ctx := context.WithoutCancel(a.ctx)
	pause := xretry.Backoff{First: outagePause, Max: longestPause}
	for attempts := 1; ; attempts++ {
		found, err := w.settleOnce(ctx, a, o)
		if err == nil {
			switch {
			case found && (o.Action == driver.Retry || o.Action == driver.Release):
				w.workers.Wake() // the job may be due before the next poll
			case !found && attempts == 1:
				// after an earlier try, its lost response may have been a success
				w.reportLost(a, ErrLeaseLost)
			}
			return
		}
		w.reportError(ctx, "settle", fmt.Errorf("outbox: settle: %w", err))
		if w.leaseLost(a) || xretry.Sleep(a.ctx, pause.Next()) != nil && w.leaseLost(a) {
			return
		}
	}
}

// leaseLost reports whether the attempt has lost its lease, or may have lost it.
func (w *worker) leaseLost(a *attempt) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.lost || a.expired()
}

// settleOnce tries once to store the outcome. It does not find the job if another worker
// has claimed it, so that a late outcome has no effect.
func (w *worker) settleOnce(
	ctx context.Context, a *attempt, o driver.Outcome,
) (found bool, err error) {
	ids, wait := []string{a.ID}, max(o.Wait, 0).Microseconds()
	switch o.Action {
	case driver.Retry:
		return w.write(ctx, w.sql.retry, wait, wait, nullable(o.Error), ids, a.token)
	case driver.Discard:
		return w.write(ctx, w.sql.discard, nullable(o.Error), ids, a.token)
	case driver.Release:
		return w.write(ctx, w.sql.release, wait, wait, ids, a.token)
	default:
		s := &success{attempt: a, result: make(chan settled, 1)}
		w.settler.done <- s
		r := <-s.result
		return r.found, r.err
	}
}

// nullable maps "" to NULL, because Oracle stores an empty string as NULL.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// write executes a statement, and reports whether it changed a row.
func (w *worker) write(ctx context.Context, statement string, args ...any) (found bool, err error) {
	n, err := w.count(ctx, statement, args...)
	return n > 0, err
}

func (w *worker) count(ctx context.Context, statement string, args ...any) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	err = retryConflicts(ctx, func() error {
		tx := w.session(ctx).Exec(statement, args...)
		n = tx.RowsAffected
		return tx.Error
	})
	return n, err
}

// settler stores successes in groups, with one statement per group. New successes are
// collected while a statement runs.
type settler struct{ done chan *success }

// success is a successful attempt.
type success struct {
	*attempt
	result chan settled
}

// settled is the result of storing a success.
type settled struct {
	found bool
	err   error
}

// settleSuccesses stores successes until ctx is canceled after the last attempt.
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

// gather returns first and the other successes that are ready, at most settleRows.
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

// succeed deletes the jobs of the attempts. If the lease of an attempt is lost, its job
// is deleted separately: in a group, the ID could match a newer attempt of this worker.
func (w *worker) succeed(ctx context.Context, all []*success) {
	var group []*success
	for _, s := range all {
		if w.leaseLost(s.attempt) {
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
	ids, tokens := idsAndTokens(attempts)
	n, err := w.count(ctx, w.sql.succeed, ids, tokens)
	if err == nil && n < int64(len(group)) && len(group) > 1 {
		// The statement does not return which rows it deleted. A later query cannot
		// detect jobs that another worker completed.
		for _, s := range group {
			w.reportLost(s.attempt, fmt.Errorf(
				"%w: this job, or another of the %d jobs of the statement: %d outcomes ignored",
				ErrLeaseLost, len(group), int64(len(group))-n))
		}
		n = 1
	}
	for _, s := range group {
		s.result <- settled{found: n > 0, err: err}
	}
}
