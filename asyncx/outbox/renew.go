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
	expiresAt time.Time // of the lease
	lost      bool
}

// driverAttempt returns the attempt for Run and OnLost.
func (a *attempt) driverAttempt() driver.Attempt {
	return driver.Attempt{
		Job: a.Job, Number: a.Attempt, CreatedAt: a.CreatedAt, TakenOver: a.crashed,
	}
}

// expired reports whether the lease has expired by the monotonic clock or the wall clock.
// The monotonic clock may stop while the system is suspended.
func (a *attempt) expired() bool {
	now := time.Now()
	return !now.Before(a.expiresAt) || !now.Round(0).Before(a.expiresAt.Round(0))
}

// hold registers the attempts of claimed jobs. An older attempt of this worker at the
// same job has lost its lease.
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
			Record: r, token: b.token, crashed: b.crashed[r.ID], expiresAt: b.since.Add(w.lease),
		}
		a.ctx, a.end = context.WithCancelCause(ctx) //nolint:fatcontext // one context per attempt
		claimed = append(claimed, a)
	}
	for _, a := range claimed {
		w.held[a] = struct{}{}
	}
	return claimed
}

// lose cancels the attempt, whose lease is lost.
func (a *attempt) lose() {
	a.lost = true
	a.end(ErrLeaseLost)
}

// renewLoop renews the leases until ctx is canceled.
func (w *worker) renewLoop(ctx context.Context) {
	for wait := w.lease / 3; xretry.Sleep(ctx, wait) == nil; {
		wait = w.renew(ctx)
	}
}

// renew renews all leases, and returns the time until the next renewal.
func (w *worker) renew(ctx context.Context) time.Duration {
	all, first := w.leased()
	if len(all) == 0 {
		return w.lease / 3
	}
	// A hanging statement must not delay the cancellation of attempts.
	timeout := w.timeout
	if remaining := time.Until(first); remaining > 0 {
		timeout = min(timeout, remaining)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var err error
	for group := range slices.Chunk(all, renewRows) {
		if err = w.renewGroup(ctx, group); err != nil {
			break
		}
	}
	if err == nil {
		return w.lease / 3
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		w.reportError(ctx, "renew", fmt.Errorf("outbox: renew: %w", err))
	}
	return w.expire(all)
}

// leased returns the attempts with a lease, and the earliest expiry.
func (w *worker) leased() (all []*attempt, first time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a := range w.held {
		if a.lost {
			continue
		}
		if all = append(all, a); len(all) == 1 || a.expiresAt.Before(first) {
			first = a.expiresAt
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
		wait = min(wait, max(time.Until(a.expiresAt), time.Millisecond))
	}
	return wait
}

// renewGroup renews leases with one statement. If the statement does not find all rows,
// renewGroup queries the holders of the jobs.
func (w *worker) renewGroup(ctx context.Context, group []*attempt) error {
	ids, tokens := idsAndTokens(group)
	since := time.Now()
	var found int64
	err := retryConflicts(ctx, func() error {
		since = time.Now()
		tx := w.session(ctx).Exec(w.sql.renew, w.lease.Microseconds(), ids, tokens)
		found = tx.RowsAffected
		return tx.Error
	})
	if err != nil {
		return err
	}
	var holders map[string]string
	if found != int64(len(group)) {
		if err := retryConflicts(ctx, func() (err error) {
			holders, err = w.holders(ctx, ids)
			return err
		}); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range group {
		if holders != nil && holders[a.ID] != a.token {
			a.lose() // also if the attempt has just finished, which is harmless
			continue
		}
		a.expiresAt = since.Add(w.lease)
	}
	return nil
}

// holders returns the token of the holder of each job.
func (w *worker) holders(ctx context.Context, ids []string) (map[string]string, error) {
	holders := map[string]string{}
	err := query(w.session(ctx).Raw(w.sql.holders, ids), func(rows *sql.Rows) error {
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

// idsAndTokens returns the sorted IDs and the sorted distinct tokens of attempts.
func idsAndTokens(all []*attempt) (ids, tokens []string) {
	for _, a := range all {
		ids, tokens = append(ids, a.ID), append(tokens, a.token)
	}
	slices.Sort(ids) // a fixed lock order prevents deadlocks
	slices.Sort(tokens)
	return ids, slices.Compact(tokens)
}
