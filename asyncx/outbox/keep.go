package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// renewRows is how many leases one statement renews.
const renewRows = 400

// attempt is a job that this worker holds.
type attempt struct {
	driver.Record

	token string
	died  bool            // the last worker of the job
	ctx   context.Context // that of the attempt
	end   context.CancelCauseFunc

	// What follows is guarded by the worker's mutex.
	until time.Time // by both clocks: one of them stands still while the machine sleeps
	lost  bool
}

// begun is the attempt as it is told to others.
func (a *attempt) begun() driver.Attempt {
	return driver.Attempt{Job: a.Job, Number: a.Attempt, CreatedAt: a.CreatedAt, TakenOver: a.died}
}

// over reports whether the lease has ended, by the monotonic clock or by that on the
// wall.
func (a *attempt) over() bool {
	now := time.Now()
	return !now.Before(a.until) || !now.Round(0).Before(a.until.Round(0))
}

// hold notes what was claimed. An attempt of this worker at the same job has lost it.
func (w *worker) hold(ctx context.Context, b batch) []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	claimed := make([]*attempt, 0, len(b.records))
	for _, r := range b.records {
		for other := range w.held {
			if other.ID == r.ID {
				other.lose()
			}
		}
		a := &attempt{Record: r, token: b.token, died: b.died[r.ID], until: b.since.Add(w.lease)}
		a.ctx, a.end = context.WithCancelCause(ctx) //nolint:fatcontext // one for each
		claimed = append(claimed, a)
	}
	for _, a := range claimed {
		w.held[a] = struct{}{}
	}
	return claimed
}

func (a *attempt) lose() {
	a.lost = true
	a.end(ErrTaken)
}

// keep renews the leases until ctx ends.
func (w *worker) keep(ctx context.Context) {
	for wait := w.lease / 3; xretry.Sleep(ctx, wait) == nil; {
		wait = w.renew(ctx)
	}
}

// renew renews what is held, and returns when to do so again.
func (w *worker) renew(ctx context.Context) time.Duration {
	all, first := w.holding()
	if len(all) == 0 {
		return w.lease / 3
	}
	// A statement that hangs must not keep the attempts from being told.
	patience := w.patience
	if left := time.Until(first); left > 0 {
		patience = min(patience, left)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	for some := range slices.Chunk(all, renewRows) {
		if err = w.renewSome(ctx, some); err != nil {
			break
		}
	}
	if err == nil {
		return w.lease / 3
	}
	if !errors.Is(ctx.Err(), context.Canceled) { // the end of Work is no outage
		w.failed(ctx, "renew", fmt.Errorf("outbox: renew: %w", err))
	}
	return w.expire(all)
}

// holding returns what is to be renewed, and when the first lease of it ends.
func (w *worker) holding() (all []*attempt, first time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a := range w.held {
		if a.lost {
			continue
		}
		if all = append(all, a); len(all) == 1 || a.until.Before(first) {
			first = a.until
		}
	}
	return all, first
}

// expire tells the attempts whose lease has ended without word of the database, and
// returns when to try again.
func (w *worker) expire(all []*attempt) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := w.lease / 12
	for _, a := range all {
		if a.over() {
			a.lose()
			continue
		}
		wait = min(wait, max(time.Until(a.until), time.Millisecond))
	}
	return wait
}

// renewSome renews leases with one statement. Where it has not found all of them it asks
// which are another's by now.
func (w *worker) renewSome(ctx context.Context, some []*attempt) error {
	ids, tokens := names(some)
	since := time.Now()
	var found int64
	err := again(ctx, func() error {
		since = time.Now()
		tx := w.session(ctx).Exec(w.sql.renew, w.lease.Microseconds(), ids, tokens)
		found = tx.RowsAffected
		return tx.Error
	})
	if err != nil {
		return err
	}
	var holders map[string]string
	if found != int64(len(some)) {
		if err := again(ctx, func() (err error) {
			holders, err = w.holders(ctx, ids)
			return err
		}); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range some {
		if holders != nil && holders[a.ID] != a.token {
			a.lose() // or has been settled meanwhile, which does no harm
			continue
		}
		a.until = since.Add(w.lease)
	}
	return nil
}

// holders returns who holds which of the jobs.
func (w *worker) holders(ctx context.Context, ids []string) (map[string]string, error) {
	holders := map[string]string{}
	err := query(w.session(ctx).Raw(w.sql.whose, ids), func(rows *sql.Rows) error {
		var id string
		var holder sql.NullString
		if err := rows.Scan(&id, &holder); err != nil {
			return err
		}
		holders[id] = holder.String
		return nil
	})
	return holders, err
}

// names returns the ids and the tokens of attempts, each once.
func names(all []*attempt) (ids, tokens []string) {
	for _, a := range all {
		ids, tokens = append(ids, a.ID), append(tokens, a.token)
	}
	slices.Sort(ids) // statements that lock rows in the same order do not end in a deadlock
	slices.Sort(tokens)
	return ids, slices.Compact(tokens)
}
