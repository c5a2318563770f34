package outbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
)

const (
	// claimRows is the maximum number of jobs per claim.
	claimRows = 100
	// maxFactor is the maximum ratio of candidates to requested jobs.
	maxFactor = 16
)

// priorities is the number of priorities.
const priorities = driver.MaxPriority - driver.MinPriority + 1

// snapshot is a snapshot of the table at the time now. first contains the due time of the
// first job of each priority, or never.
type snapshot struct {
	now   int64
	first [priorities]int64
}

// readSnapshot returns a snapshot, and the time until the next job is due. It costs one
// index lookup per priority.
func (e *engine) readSnapshot(ctx context.Context) (s snapshot, wait time.Duration, err error) {
	var first [priorities]sql.NullInt64
	dest := []any{&s.now}
	for i := range first {
		dest = append(dest, &first[i])
	}
	err = retryConflicts(ctx, func() error {
		return query(e.db.WithContext(ctx).Raw(e.sql.snapshot),
			func(rows *sql.Rows) error { return rows.Scan(dest...) })
	})
	if err != nil {
		return s, 0, fmt.Errorf("outbox: look for jobs: %w", err)
	}
	next := never
	for i := range first {
		s.first[i] = never
		if first[i].Valid {
			s.first[i] = first[i].Int64
		}
		if s.first[i] > s.now {
			next = min(next, s.first[i])
		}
	}
	return s, time.Duration(min(next-s.now, time.Hour.Microseconds())) * time.Microsecond, nil
}

// nextAfter returns the time until the next job is due. Unlike readSnapshot, whose result
// is wait, it also considers priorities whose first job is already due: this worker may
// have no handler for that job.
func (w *worker) nextAfter(
	ctx context.Context, s snapshot, wait time.Duration,
) (time.Duration, error) {
	for i, first := range s.first {
		if first > s.now {
			continue
		}
		var next sql.NullInt64
		err := retryConflicts(ctx, func() error {
			return query(w.session(ctx).Raw(w.sql.next, driver.MinPriority+i, s.now),
				func(rows *sql.Rows) error { return rows.Scan(&next) })
		})
		if err != nil {
			return 0, fmt.Errorf("outbox: look for jobs: %w", err)
		}
		if next.Valid {
			micros := min(next.Int64-s.now, time.Hour.Microseconds())
			wait = min(wait, time.Duration(micros)*time.Microsecond)
		}
	}
	return wait, nil
}

// candidate is a job that is due.
type candidate struct{ ID, State string }

// candidates returns at most n*factor due jobs per priority, in execution order.
func (w *worker) candidates(ctx context.Context, s snapshot, n, factor int) ([][]candidate, error) {
	var found [][]candidate
	for i, first := range s.first {
		if first > s.now || n <= 0 {
			continue
		}
		var ready []candidate
		err := w.session(ctx).Model(&row{}).
			Where(w.sql.due, driver.MinPriority+i, s.now).Where(w.sql.kinds, w.Kinds).
			Order(w.sql.order).Limit(n * factor).Find(&ready).Error
		if err != nil {
			return nil, fmt.Errorf("outbox: look for jobs: %w", err)
		}
		if len(ready) > 0 {
			found = append(found, ready)
			n -= len(ready)
		}
	}
	return found, nil
}

// choose selects n candidates, those with a higher priority first. Under contention
// (factor > 1) it selects random jobs of a priority, because workers that select the same
// jobs block each other.
func choose(found [][]candidate, n, factor int) []candidate {
	var chosen []candidate
	for _, ready := range found {
		want := n - len(chosen)
		if len(ready) > want && factor > 1 {
			ready = slices.Clone(ready)
			mathrand.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
		}
		chosen = append(chosen, ready[:min(want, len(ready))]...)
	}
	return chosen
}

// claim is a set of jobs claimed under one token.
type claim struct {
	token   string
	ids     []string
	crashed map[string]bool // jobs whose previous worker crashed
	since   time.Time       // before the statement: the database's lease starts later
}

func newClaim(chosen []candidate) claim {
	c := claim{token: rand.Text(), crashed: map[string]bool{}, since: time.Now()}
	for _, one := range chosen {
		c.ids = append(c.ids, one.ID)
		c.crashed[one.ID] = one.State == string(driver.Running)
	}
	return c
}

// batch is the result of a claim.
type batch struct {
	claim
	records   []driver.Record
	more      bool          // more jobs may be due
	contended bool          // other workers claimed some of the candidates
	wait      time.Duration // until the next job is due
}

// claim claims at most n jobs.
func (w *worker) claim(ctx context.Context, n int) (batch, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	if err := w.releaseClaim(ctx); err != nil {
		return batch{}, err
	}
	s, wait, err := w.readSnapshot(xdb.WithPrimary(ctx))
	if err != nil {
		return batch{}, err
	}
	n = min(n, claimRows)
	found, err := w.candidates(ctx, s, n, w.factor)
	if err != nil {
		return batch{}, err
	}
	chosen := choose(found, n, w.factor)
	if len(chosen) < n {
		if wait, err = w.nextAfter(ctx, s, wait); err != nil {
			return batch{}, err
		}
	}
	if len(chosen) == 0 {
		return batch{wait: wait}, nil
	}
	c := newClaim(chosen)
	claimed, err := w.markClaimed(ctx, c)
	if err != nil {
		return batch{}, err
	}
	b := batch{
		claim: c, wait: wait, more: len(chosen) == n || claimed < len(chosen),
		contended: claimed < len(chosen),
	}
	w.adapt(b.contended)
	if claimed == 0 {
		return b, nil
	}
	w.unconfirmed = &c
	if b.records, err = w.read(ctx, c); err != nil {
		return batch{}, err
	}
	w.unconfirmed = nil
	return b, nil
}

// markClaimed marks the chosen jobs that are still due as running, and returns their
// number. If the response is lost, the claim is unconfirmed.
func (w *worker) markClaimed(ctx context.Context, c claim) (claimed int, err error) {
	w.unconfirmed = &c
	err = retryConflicts(ctx, func() error {
		tx := w.session(ctx).Exec(w.sql.markClaimed, c.token, w.lease.Microseconds(), c.ids)
		claimed = int(tx.RowsAffected)
		return tx.Error
	})
	if err == nil || isConflict(err) {
		w.unconfirmed = nil
	}
	if isConflict(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("outbox: claim: %w", err)
	}
	return claimed, nil
}

// adapt increases the number of candidates under contention, and decreases it otherwise.
func (w *worker) adapt(contended bool) {
	if contended {
		w.factor = min(2*w.factor, maxFactor)
		return
	}
	w.factor = max(w.factor-1, 1)
}

// read returns the claimed jobs in execution order.
func (w *worker) read(ctx context.Context, c claim) ([]driver.Record, error) {
	var records []driver.Record
	err := retryConflicts(ctx, func() (err error) {
		records, err = scan(w.session(ctx).Raw(w.sql.read, c.ids, c.token))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: read claimed jobs: %w", err)
	}
	position := make(map[string]int, len(c.ids))
	for i, id := range c.ids {
		position[id] = i
	}
	slices.SortFunc(records, func(a, b driver.Record) int {
		return cmp.Compare(position[a.ID], position[b.ID])
	})
	return records, nil
}

// releaseClaim returns the jobs of an unconfirmed claim to the queue without counting an
// attempt.
func (w *worker) releaseClaim(ctx context.Context) error {
	if w.unconfirmed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestPause)
	defer cancel()
	_, err := w.count(ctx, w.sql.release, 0, 0, w.unconfirmed.ids, w.unconfirmed.token)
	if err == nil {
		w.unconfirmed = nil
	}
	return err
}

// session returns a session of the primary database with ctx.
func (w *worker) session(ctx context.Context) *gorm.DB {
	return w.db.WithContext(xdb.WithPrimary(ctx))
}
