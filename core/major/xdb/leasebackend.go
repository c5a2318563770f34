package xdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

const (
	// leaseReleased is the holder of a slot that was given back, and no leaseHolder.
	leaseReleased = "-"

	// leaseTries bounds how often one call looks again because others were faster. In between it waits a random time of at
	// most leasePause, which doubles up to leaseLongPause.
	leaseTries     = 100
	leasePause     = time.Millisecond
	leaseLongPause = 32 * time.Millisecond
)

var errLeaseRaces = errors.New("others were faster every time")

// leaseBackend keeps leases in a table. What it knows it has read in the same call: who decides is a statement that changes
// a row only as long as it is what was read.
type leaseBackend struct {
	info         *dbconn.Info
	db           *gorm.DB
	sql          leaseSQL
	capabilities leasedriver.Capabilities
	sweeper      *leaseSweeper
	life         context.Context //nolint:containedctx // ends with Close

	turn chan struct{} // full during set-up
	made atomic.Bool   // the table exists
}

func newLeaseBackend(k *leaseKeeper, clock driver.Clock) (*leaseBackend, error) {
	b := &leaseBackend{info: k.info, db: k.silent(), life: k.life, turn: make(chan struct{}, 1)}
	b.capabilities = leasedriver.Capabilities{Scope: clock.Scope(k.db), Durable: true, Name: b.info.Name}
	b.sweeper = &leaseSweeper{life: k.life, backend: b}
	var err error
	b.sql, err = newLeaseSQL(b.db, clock)
	return b, err
}

// Capabilities implements driver.Backend of package xlease.
func (b *leaseBackend) Capabilities() leasedriver.Capabilities { return b.capabilities }

// Acquire implements driver.Backend of package xlease.
func (b *leaseBackend) Acquire(ctx context.Context, r leasedriver.Request) (leasedriver.Grant, error) {
	if err := b.Prepare(ctx); err != nil {
		return leasedriver.Grant{}, err
	}
	id := leaseID(r.Name)
	for range leaseAttempts(ctx) {
		seen, err := b.look(ctx, id, r.First, r.Count)
		if err != nil {
			return leasedriver.Grant{}, err
		}
		slot, wait := seen.pick(r)
		if slot < 0 {
			return leasedriver.Grant{Wait: wait}, nil
		}
		grant := seen.grant(slot)
		result, err := b.take(ctx, id, r, grant, seen.rows[slot])
		if err != nil {
			return leasedriver.Grant{}, err
		}
		if result == leaseWritten {
			b.sweeper.begin()
			return grant, nil
		}
	}
	return leasedriver.Grant{}, b.failed(ctx, errLeaseRaces)
}

// take writes the holder of a slot whose row is still as it was seen; nil: as long as it has none.
func (b *leaseBackend) take(ctx context.Context, id string, r leasedriver.Request, g leasedriver.Grant, row *leaseSeen) (leaseResult, error) {
	mark := max(g.Mark, r.Mark)
	if row == nil {
		return b.write(ctx, b.sql.insert, id, g.Slot, r.Name, r.Count, leaseHolder(r.Holder), g.Token, mark, r.TTL.Microseconds())
	}
	return b.write(ctx, b.sql.take, max(row.slots, int64(r.Count)), leaseHolder(r.Holder), g.Token, mark, r.TTL.Microseconds(),
		id, g.Slot, row.token, row.mark)
}

// Renew implements driver.Backend of package xlease.
func (b *leaseBackend) Renew(ctx context.Context, h leasedriver.Holding) (bool, error) {
	if err := b.Prepare(ctx); err != nil {
		return false, err
	}
	id, holder := leaseID(h.Name), leaseHolder(h.Holder)
	for range leaseAttempts(ctx) {
		result, err := b.write(ctx, b.sql.renew, h.TTL.Microseconds(), h.Mark, h.Mark, id, h.Slot, holder)
		if err != nil || result == leaseWritten {
			return err == nil, err
		}
		seen, err := b.look(ctx, id, h.Slot, 1)
		if err != nil {
			return false, err
		}
		switch row := seen.rows[h.Slot]; {
		case row == nil: // somebody has removed it, and nobody has come between
			result, err = b.write(ctx, b.sql.insert, id, h.Slot, h.Name, 0, holder, h.Token, h.Mark, h.TTL.Microseconds())
			if err != nil || result == leaseWritten {
				return err == nil, err
			}
		case row.holder != holder:
			return false, nil
		}
	}
	return false, b.failed(ctx, errLeaseRaces)
}

// Release implements driver.Backend of package xlease.
func (b *leaseBackend) Release(ctx context.Context, h leasedriver.Holding) (bool, error) {
	for range leaseAttempts(ctx) {
		result, err := b.write(ctx, b.sql.release, leaseReleased, h.Mark, leaseID(h.Name), h.Slot, leaseHolder(h.Holder))
		if err != nil || result != leaseGaveWay {
			return err == nil && result == leaseWritten, err
		}
	}
	return false, b.failed(ctx, errLeaseRaces)
}

// leaseAttempts are those of one call. Two that give way to each other would do so for ever if they did not wait.
func leaseAttempts(ctx context.Context) iter.Seq[int] {
	return func(yield func(int) bool) {
		pause := leasePause
		for i := range leaseTries {
			if i > 0 {
				if xretry.Sleep(ctx, rand.N(pause)) != nil { //nolint:gosec // a spread is no secret
					return
				}
				pause = min(2*pause, leaseLongPause)
			}
			if !yield(i) {
				return
			}
		}
	}
}

// leaseResult is what became of a statement.
type leaseResult uint8

const (
	leaseUnchanged leaseResult = iota // no row was as it says
	leaseWritten
	leaseGaveWay // another statement was faster; this one has changed nothing
)

// write runs a statement for one row.
func (b *leaseBackend) write(ctx context.Context, sql string, args ...any) (leaseResult, error) {
	tx := b.db.WithContext(WithPrimary(ctx)).Exec(sql, args...)
	if tx.Error == nil && tx.RowsAffected == 0 {
		return leaseUnchanged, nil
	}
	if tx.Error == nil {
		return leaseWritten, nil
	}
	if kind := b.info.Kind(tx.Error); (kind == driver.Unique || kind == driver.Deadlock) && ctx.Err() == nil {
		return leaseGaveWay, nil
	}
	return leaseUnchanged, b.failed(ctx, tx.Error)
}

// look reads the slots of a name, and the time. A database may give up what only reads, too.
func (b *leaseBackend) look(ctx context.Context, id string, first, count int) (view leaseView, err error) {
	for range leaseAttempts(ctx) {
		view, err = b.read(ctx, id, first, count)
		if b.info.Kind(err) != driver.Deadlock || ctx.Err() != nil {
			break
		}
	}
	return view, err
}

func (b *leaseBackend) read(ctx context.Context, id string, first, count int) (leaseView, error) {
	view := leaseView{rows: map[int]*leaseSeen{}}
	rows, err := b.db.WithContext(WithPrimary(ctx)).Raw(b.sql.look, id, first, first+count).Rows()
	if err != nil {
		return view, b.failed(ctx, err)
	}
	defer func() { _ = rows.Close() }() // the error is that of Err
	for rows.Next() {
		if err := view.scan(rows); err != nil {
			return view, b.failed(ctx, err)
		}
	}
	if err := rows.Err(); err != nil {
		return view, b.failed(ctx, err)
	}
	return view, nil
}

// failed returns an error without a secret. Where ctx has ended, that is in it.
func (b *leaseBackend) failed(ctx context.Context, err error) error {
	err = b.info.Redact(err)
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("xdb: leases: %w: %w", ended, err)
	}
	return fmt.Errorf("xdb: leases: %w", err)
}

// leaseSeen is what a row said when it was read.
type leaseSeen struct {
	holder                           string
	slots, token, mark, since, until int64
}

// leaseView is what the rows of a name said at one moment.
type leaseView struct {
	now  int64
	rows map[int]*leaseSeen
}

// scan adds a row. One without a slot has the time only.
func (v *leaseView) scan(rows *sql.Rows) error {
	var holder sql.NullString
	var slot, slots, token, mark, since, until sql.NullInt64
	if err := rows.Scan(&v.now, &slot, &slots, &holder, &token, &mark, &since, &until); err != nil {
		return err
	}
	if slot.Valid {
		v.rows[int(slot.Int64)] = &leaseSeen{
			holder: holder.String, slots: slots.Int64, token: token.Int64, mark: mark.Int64, since: since.Int64, until: until.Int64,
		}
	}
	return nil
}

// pick returns the free slot that a request is to get, or -1 and how long none will be free.
func (v *leaseView) pick(r leasedriver.Request) (slot int, wait time.Duration) {
	slot = -1
	var least int64
	for i := range r.Count {
		at := r.First + (r.Begin-r.First+i)%r.Count
		var mark int64
		if row := v.rows[at]; row != nil {
			mark = row.mark
			if left := leaseMicros(row.until - v.now); left > 0 {
				if wait == 0 || left < wait {
					wait = left
				}
				continue
			}
		}
		if slot < 0 || mark < least {
			slot, least = at, mark
		}
		if least <= r.Past {
			break
		}
	}
	return slot, wait
}

// grant is the answer that gives out a slot.
func (v *leaseView) grant(slot int) leasedriver.Grant {
	g := leasedriver.Grant{OK: true, Slot: slot, Token: v.now}
	if row := v.rows[slot]; row != nil {
		g.Token, g.Mark = max(row.token+1, v.now), row.mark
	}
	since := v.now
	for _, row := range v.rows {
		since = min(since, row.since)
	}
	g.Age = leaseMicros(v.now - since)
	return g
}

func leaseMicros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
