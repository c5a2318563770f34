package xlease

import (
	"context"
	"errors"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// local is a backend without a server: its records are in this process or in a directory.
// It also implements driver.Preparer and io.Closer.
type local struct {
	storage

	capabilities driver.Capabilities
	now          func() int64 // microseconds
}

type storage interface {
	// with calls do with exclusive access to the records of a name.
	with(ctx context.Context, name string, now int64, do func(rs records) error) error
	// Prepare returns an error if the storage is unusable.
	Prepare(ctx context.Context) error
	// Close expires the records whose lifetime depends on this process.
	Close() error
}

// records are the records of one name. Times are in microseconds.
type records interface {
	// read returns the record of a slot, or the zero value.
	read(slot int) (record, error)
	write(slot int, r record) error
	// since returns the start time of the records of the name.
	since() int64
}

type record struct {
	holder             string
	until, token, mark int64
}

// released is the holder of a released record. The holder of a missing record is empty.
const released = "-"

// Capabilities implements driver.Backend.
func (l *local) Capabilities() driver.Capabilities { return l.capabilities }

// Acquire implements driver.Backend.
func (l *local) Acquire(ctx context.Context, r driver.Request) (grant driver.Grant, err error) {
	err = l.with(ctx, r.Name, l.now(), func(rs records) error {
		grant, err = acquire(rs, r, l.now()) // l.with may have waited
		return err
	})
	return grant, err
}

func acquire(rs records, r driver.Request, now int64) (driver.Grant, error) {
	var readErr error
	seen := map[int]record{}
	slot, wait, ok := driver.Pick(r, func(slot int) (time.Duration, int64) {
		rec, err := rs.read(slot)
		readErr, seen[slot] = errors.Join(readErr, err), rec
		return micros(rec.until - now), rec.mark
	})
	if readErr != nil || !ok {
		return driver.Grant{Wait: wait}, readErr
	}
	rec := seen[slot]
	grant := driver.Grant{
		OK: true, Slot: slot, Token: max(rec.token+1, now), Mark: rec.mark,
		Age: micros(max(now-rs.since(), 0)),
	}
	return grant, rs.write(slot, record{
		holder: r.Holder, until: now + r.TTL.Microseconds(), token: grant.Token,
		mark: max(rec.mark, r.Mark),
	})
}

// Renew implements driver.Backend.
func (l *local) Renew(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = l.with(ctx, h.Name, l.now(), func(rs records) error {
		rec, err := rs.read(h.Slot)
		if rec.holder == "" && rec.token <= h.Token {
			// the record is missing, and no other holder acquired the slot
			rec.holder, rec.token = h.Holder, h.Token
		}
		if held = err == nil && rec.holder == h.Holder; !held {
			return err
		}
		rec.until, rec.mark = l.now()+h.TTL.Microseconds(), max(rec.mark, h.Mark)
		return rs.write(h.Slot, rec)
	})
	return held && err == nil, err
}

// Release implements driver.Backend.
func (l *local) Release(ctx context.Context, h driver.Holding) (held bool, err error) {
	err = l.with(ctx, h.Name, l.now(), func(rs records) error {
		rec, err := rs.read(h.Slot)
		if held = err == nil && rec.holder == h.Holder; !held {
			return err
		}
		rec.holder, rec.until, rec.mark = released, min(rec.until, l.now()), h.Mark
		return rs.write(h.Slot, rec)
	})
	return held && err == nil, err
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
