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
	xDB "github.com/plinthgo/plinth/core/major/xdb"
)

const (
	// claimRows is how many jobs one claim takes at most.
	claimRows = 100
	// widest bounds how many more candidates a claim looks at than it wants.
	widest = 16
	// kindsChunk is how many kinds stand in one list: Oracle has a limit of 1000.
	kindsChunk = 1000
)

// priorities is how many there are.
const priorities = driver.MaxPriority - driver.MinPriority + 1

// view is what the table said at one moment: for each priority, when the first of its jobs is due. None is due at never.
type view struct {
	now   int64
	first [priorities]int64
}

// look reads the time and what is due first. It costs one step down the index for each priority.
func (e *engine) look(ctx context.Context) (v view, wait time.Duration, err error) {
	var first [priorities]sql.NullInt64
	to := []any{&v.now}
	for i := range first {
		to = append(to, &first[i])
	}
	err = again(ctx, func() error {
		return query(e.db.WithContext(ctx).Raw(e.sql.look), func(rows *sql.Rows) error { return rows.Scan(to...) })
	})
	if err != nil {
		return v, 0, fmt.Errorf("xoutbox: look for jobs: %w", err)
	}
	next := never
	for i := range first {
		v.first[i] = never
		if first[i].Valid {
			v.first[i] = first[i].Int64
		}
		if v.first[i] > v.now {
			next = min(next, v.first[i])
		}
	}
	return v, time.Duration(min(next-v.now, time.Hour.Microseconds())) * time.Microsecond, nil
}

// candidates returns the ids of jobs that are due, in the order of their turn: a few more than n where wide is above 1.
func (w *worker) candidates(ctx context.Context, v view, n, wide int) ([][]string, error) {
	var found [][]string
	for i, first := range v.first {
		if first > v.now || n <= 0 {
			continue
		}
		var ids []string
		for kinds := range slices.Chunk(w.Kinds, kindsChunk) {
			var some []string
			err := w.session(ctx).Model(&row{}).Where(w.sql.due, driver.MinPriority+i, v.now).Where(w.sql.kinds, kinds).
				Order(w.sql.order).Limit(n*wide).Pluck("id", &some).Error
			if err != nil {
				return nil, fmt.Errorf("xoutbox: look for jobs: %w", err)
			}
			ids = append(ids, some...)
		}
		if len(ids) > 0 {
			found = append(found, ids)
			n -= len(ids)
		}
	}
	return found, nil
}

// choose takes n of the candidates. Workers that take the same first ones get in each other's way, so where they do, each takes
// any of more: but of a higher priority before a lower one.
func choose(found [][]string, n, wide int) []string {
	var chosen []string
	for _, ids := range found {
		want := n - len(chosen)
		if len(ids) > want && wide > 1 {
			ids = slices.Clone(ids)
			mathrand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] }) //nolint:gosec // a spread is no secret
		}
		chosen = append(chosen, ids[:min(want, len(ids))]...)
	}
	return chosen
}

// claim is jobs that are taken under one token.
type claim struct {
	token string
	ids   []string
	since time.Time // before the statement: the lease begins then or later
}

// haul is what a claim has brought.
type haul struct {
	claim
	records   []driver.Record
	more      bool          // there may be others
	contended bool          // others were faster
	wait      time.Duration // until the next job is due
}

// claim takes at most n jobs.
func (w *worker) claim(ctx context.Context, n int) (haul, error) {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	if w.doubt != nil {
		return w.settleDoubt(ctx)
	}
	v, wait, err := w.look(xDB.WithPrimary(ctx))
	if err != nil {
		return haul{}, err
	}
	n = min(n, claimRows)
	found, err := w.candidates(ctx, v, n, w.wide)
	if err != nil {
		return haul{}, err
	}
	ids := choose(found, n, w.wide)
	if len(ids) == 0 {
		return haul{wait: wait}, nil
	}
	c := claim{token: rand.Text(), ids: ids, since: time.Now()}
	taken, err := w.take(ctx, c)
	if err != nil {
		return haul{}, err
	}
	h := haul{claim: c, wait: wait, more: len(ids) == n || taken < len(ids), contended: taken < len(ids)}
	w.widen(h.contended)
	if taken == 0 {
		return h, nil
	}
	w.doubt = &c
	if h.records, err = w.read(ctx, c); err != nil {
		return haul{}, err
	}
	w.doubt = nil
	return h, nil
}

// take marks the jobs of a claim, where they are still due. Where the answer is lost, it may have done so.
func (w *worker) take(ctx context.Context, c claim) (taken int, err error) {
	w.doubt = &c
	err = again(ctx, func() error {
		tx := w.session(ctx).Exec(w.sql.take, c.token, w.lease.Microseconds(), c.ids)
		taken = int(tx.RowsAffected)
		return tx.Error
	})
	if err == nil || gaveWay(err) {
		w.doubt = nil
	}
	if gaveWay(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("xoutbox: claim: %w", err)
	}
	return taken, nil
}

// widen lets workers that got in each other's way look further, and those that did not come closer again.
func (w *worker) widen(contended bool) { //nolint:revive // flag-parameter: the condition is the point
	if contended {
		w.wide = min(2*w.wide, widest)
		return
	}
	w.wide = max(w.wide-1, 1)
}

// read returns the jobs of a claim in the order in which they were claimed.
func (w *worker) read(ctx context.Context, c claim) ([]driver.Record, error) {
	var records []driver.Record
	err := again(ctx, func() (err error) {
		records, err = scan(w.session(ctx).Raw(w.sql.read, c.ids, c.token))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("xoutbox: read claimed jobs: %w", err)
	}
	turn := make(map[string]int, len(c.ids))
	for i, id := range c.ids {
		turn[id] = i
	}
	slices.SortFunc(records, func(a, b driver.Record) int { return cmp.Compare(turn[a.ID], turn[b.ID]) })
	return records, nil
}

// settleDoubt finds out what became of a claim whose answer was lost. Where that takes too long, the jobs are given back, since
// nobody has begun them.
func (w *worker) settleDoubt(ctx context.Context) (haul, error) {
	h := haul{claim: *w.doubt, more: true}
	var err error
	if time.Since(h.since) < w.lease {
		h.records, err = w.read(ctx, h.claim)
	} else {
		err = again(ctx, func() error { return w.session(ctx).Exec(w.sql.giveBack, 0, 0, h.ids, h.token).Error })
	}
	if err != nil {
		return haul{}, err
	}
	w.doubt = nil
	return h, nil
}

// giveBack lets jobs that nobody has begun wait again, as if they had not been claimed.
func (w *worker) giveBack(ctx context.Context, c claim) {
	ctx, cancel := context.WithTimeout(ctx, min(w.patience, longestPause))
	defer cancel()
	err := again(ctx, func() error {
		return w.session(ctx).Exec(w.sql.giveBack, 0, 0, c.ids, c.token).Error
	})
	w.outages.result(ctx, "give back", err) // where it fails, others take them over
}

// session returns the handle for a statement.
func (w *worker) session(ctx context.Context) *gorm.DB { return w.db.WithContext(xDB.WithPrimary(ctx)) }
