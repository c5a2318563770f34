// Package sqllease stores leases in a database table.
package sqllease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

const (
	// released is the holder of a released slot. holderText never returns it.
	released = "-"

	// maxTries limits the attempts of one call that loses races. Between attempts it
	// waits a random time of at most firstPause, which doubles up to longPause.
	maxTries   = 100
	firstPause = time.Millisecond
	longPause  = 32 * time.Millisecond
)

// errRaces is the error of an attempt that lost a race, and of a call that lost maxTries
// of them.
var errRaces = errors.New("too many concurrent changes of the lease")

// Backend stores leases in a table. Each call reads the rows, decides, and writes with a
// statement that changes a row only if it is unchanged since the read.
type Backend struct {
	*dbconn.Info

	db    *gorm.DB
	clock driver.Clock
	sql   statements

	stopCtx context.Context // canceled by Close
	stop    context.CancelFunc

	prepared atomic.Bool // the table exists

	mu       sync.Mutex
	next     time.Time // time of the next sweep
	sweeping sync.WaitGroup
}

// New returns a Backend for db. It sends nothing to the database. The error is
// xlease.ErrUnsupported if the database has no clock.
func New(db *gorm.DB) (*Backend, error) {
	info := dbconn.Of(db)
	clock, err := info.Clock()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", xlease.ErrUnsupported, err)
	}
	b := &Backend{Info: info, clock: clock, sql: newStatements(db, clock)}
	b.db = db.Session(&gorm.Session{
		NewDB: true, SkipDefaultTransaction: true, Logger: logger.Discard,
	})
	b.stopCtx, b.stop = context.WithCancel(context.Background())
	return b, nil
}

// session returns a handle on the primary, outside any transaction. It logs no
// statements: renewals are too frequent, and errors are returned.
func (b *Backend) session(ctx context.Context) *gorm.DB {
	return b.db.WithContext(dbconn.WithPrimary(ctx))
}

// Capabilities implements driver.Backend of package xlease.
func (b *Backend) Capabilities() leasedriver.Capabilities {
	return leasedriver.Capabilities{
		Name: b.Name, Scope: b.clock.Scope(b.session(b.stopCtx)), Durable: true,
	}
}

// Close stops the background sweep and waits for it.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	b.sweeping.Wait()
	return nil
}

// Acquire implements driver.Backend of package xlease.
func (b *Backend) Acquire(
	ctx context.Context, r leasedriver.Request,
) (grant leasedriver.Grant, err error) {
	id := nameID(r.Name)
	err = b.retry(ctx, func() error {
		seen, err := b.readSlots(ctx, id, r.First, r.Count)
		if err != nil {
			return err
		}
		slot, wait, ok := leasedriver.Pick(r, seen.slot)
		if !ok {
			grant = leasedriver.Grant{Wait: wait}
			return nil
		}
		grant = seen.grant(slot)
		written, err := b.acquireSlot(ctx, id, r, grant, seen.rows[slot])
		if err == nil && !written {
			return errRaces
		}
		return err
	})
	if err != nil {
		return leasedriver.Grant{}, err
	}
	if grant.OK {
		b.startSweep()
	}
	return grant, nil
}

// acquireSlot writes the holder of a slot if its row is unchanged. The zero row means
// that the slot has no row yet.
func (b *Backend) acquireSlot(
	ctx context.Context, id string, r leasedriver.Request, g leasedriver.Grant, row tableRow,
) (bool, error) {
	mark := max(g.Mark, r.Mark)
	if row.Holder == "" {
		return b.write(ctx, b.sql.insert, id, g.Slot, r.Name, r.Count, holderText(r.Holder),
			g.Token, mark, r.TTL.Microseconds())
	}
	return b.write(ctx, b.sql.acquire,
		max(row.Slots, int64(r.Count)), holderText(r.Holder), g.Token, mark, r.TTL.Microseconds(),
		id, g.Slot, row.Token, row.Mark)
}

// Renew implements driver.Backend of package xlease.
func (b *Backend) Renew(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	id, holder := nameID(h.Name), holderText(h.Holder)
	err = b.retry(ctx, func() (err error) {
		held, err = b.write(ctx, b.sql.renew, h.TTL.Microseconds(), h.Mark, h.Mark, id, h.Slot,
			holder)
		if held || err != nil {
			return err
		}
		seen, err := b.readSlots(ctx, id, h.Slot, 1)
		if err != nil {
			return err
		}
		switch seen.rows[h.Slot].Holder {
		case "": // the row was deleted, and no other holder has acquired the slot
			held, err = b.write(ctx, b.sql.insert, id, h.Slot, h.Name, 0, holder, h.Token, h.Mark,
				h.TTL.Microseconds())
			return err
		case holder: // the row exists again
			return errRaces
		default:
			return nil
		}
	})
	return held && err == nil, err
}

// Release implements driver.Backend of package xlease.
func (b *Backend) Release(ctx context.Context, h leasedriver.Holding) (held bool, err error) {
	err = b.retry(ctx, func() (err error) {
		held, err = b.write(ctx, b.sql.release, released, h.Mark, nameID(h.Name), h.Slot,
			holderText(h.Holder))
		return err
	})
	return held, err
}

// retry prepares the table and calls do until the error is not errRaces. The random
// pauses prevent a livelock between two callers.
func (b *Backend) retry(ctx context.Context, do func() error) error {
	pause := xretry.Backoff{First: firstPause, Max: longPause}
	for range maxTries {
		err := b.prepare(ctx)
		if err == nil {
			err = do()
		}
		if !errors.Is(err, errRaces) {
			return err
		}
		if xretry.Sleep(ctx, pause.Next()) != nil {
			break
		}
	}
	return b.failed(ctx, errRaces)
}

// write executes a statement for one row and reports whether it changed the row.
func (b *Backend) write(ctx context.Context, sql string, args ...any) (bool, error) {
	tx := b.session(ctx).Exec(sql, args...)
	if tx.Error != nil {
		return false, b.raced(ctx, tx.Error)
	}
	return tx.RowsAffected > 0, nil
}

// readSlots reads the slots of a name and the current time.
func (b *Backend) readSlots(ctx context.Context, id string, first, count int) (view, error) {
	var rows []seenRow
	if err := b.session(ctx).Raw(b.sql.read, id, first, first+count).Scan(&rows).Error; err != nil {
		return view{}, b.raced(ctx, err)
	}
	v := view{rows: map[int]tableRow{}}
	for _, seen := range rows {
		v.now = seen.NowUS
		if row := seen.Row; row.Holder != "" {
			v.rows[int(row.Slot)] = row
		}
	}
	return v, nil
}

// raced returns errRaces if a concurrent statement won, so that this statement changed
// nothing. A database may abort a read for the same reason.
func (b *Backend) raced(ctx context.Context, err error) error {
	if kind := b.Kind(err); (kind == driver.Unique || kind == driver.Deadlock) && ctx.Err() == nil {
		return errRaces
	}
	return b.failed(ctx, err)
}

// failed wraps err without secrets. If ctx has ended, it includes the error of ctx.
func (b *Backend) failed(ctx context.Context, err error) error {
	err = b.Redact(err)
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("xdb: leases: %w: %w", ended, err)
	}
	return fmt.Errorf("xdb: leases: %w", err)
}

// seenRow is a row of the table with the time of the read. Without a holder it contains
// the time only.
type seenRow struct {
	NowUS int64    `gorm:"column:now_us"`
	Row   tableRow `gorm:"embedded"`
}

// view is a snapshot of the rows of a name. A slot without a row has the zero row, which
// counts as expired.
type view struct {
	now  int64
	rows map[int]tableRow
}

// slot returns the remaining time of a slot, and its mark.
func (v *view) slot(at int) (left time.Duration, mark int64) {
	row := v.rows[at]
	return micros(row.UntilUS - v.now), row.Mark
}

func (v *view) grant(slot int) leasedriver.Grant {
	last, since := v.rows[slot], v.now
	for _, row := range v.rows {
		since = min(since, row.SinceUS)
	}
	return leasedriver.Grant{
		OK: true, Slot: slot, Token: max(last.Token+1, v.now), Mark: last.Mark,
		Age: micros(v.now - since),
	}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
