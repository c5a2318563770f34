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

// renewRows is the maximum number of leases that one statement renews.
const renewRows = 400

// attempt is a job that this worker has claimed.
type attempt struct {
	driver.Record

	token   string
	crashed bool // the previous worker crashed
	ctx     context.Context
	end     context.CancelCauseFunc

	// The worker's mutex guards the fields below.
	until time.Time // checked by both clocks, as the monotonic clock may stop during suspend
	lost  bool
}

// driverAttempt returns the attempt for Run and OnLost.
func (a *attempt) driverAttempt() driver.Attempt {
	return driver.Attempt{
		Job: a.Job, Number: a.Attempt, CreatedAt: a.CreatedAt,
		TakenOver: a.crashed,
	}
}

// expired reports whether the lease has expired by the monotonic clock or the wall clock.
func (a *attempt) expired() bool {
	now := time.Now()
	return !now.Before(a.until) || !now.Round(0).Before(a.until.Round(0))
}

// hold adds claimed jobs. An older attempt of this worker at the same job has lost its
// lease.
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
		a := &attempt{
			Record: r, token: b.token, crashed: b.crashed[r.ID],
			until: b.since.Add(w.lease),
		}
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

// keep renews the leases until ctx is canceled.
func (w *worker) keep(ctx context.Context) {
	for wait := w.lease / 3; xretry.Sleep(ctx, wait) == nil; {
		wait = w.renew(ctx)
	}
}

// renew renews all leases, and returns the time until the next renewal.
func (w *worker) renew(ctx context.Context) time.Duration {
	all, first := w.holding()
	if len(all) == 0 {
		return w.lease / 3
	}
	// A hanging statement must not delay the cancellation of attempts.
	timeout := w.timeout
	if left := time.Until(first); left > 0 {
		timeout = min(timeout, left)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
	if !errors.Is(ctx.Err(), context.Canceled) {
		w.failed(ctx, "renew", fmt.Errorf("outbox: renew: %w", err))
	}
	return w.expire(all)
}

// holding returns the attempts with a lease, and the earliest expiry.
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

// expire cancels the attempts whose lease has expired, and returns the time until the
// next renewal.
func (w *worker) expire(all []*attempt) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := w.lease / 12
	for _, a := range all {
		if a.expired() {
			a.lose()
			continue
		}
		wait = min(wait, max(time.Until(a.until), time.Millisecond))
	}
	return wait
}

// renewSome renews leases with one statement. If it did not find all rows, it queries
// their holders.
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
			a.lose() // an attempt that has just finished may also be here, which is harmless
			continue
		}
		a.until = since.Add(w.lease)
	}
	return nil
}

// holders returns the token of the holder of each job.
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

// names returns the sorted IDs and the sorted distinct tokens of attempts.
func names(all []*attempt) (ids, tokens []string) {
	for _, a := range all {
		ids, tokens = append(ids, a.ID), append(tokens, a.token)
	}
	slices.Sort(ids) // a fixed lock order prevents deadlocks
	slices.Sort(tokens)
	return ids, slices.Compact(tokens)
}
