package xlease

import (
	"context"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// InProcess returns a backend that decides between the goroutines of this process. now is its clock, for tests; nil is the
// real time.
func InProcess(now func() time.Time) driver.Backend {
	return &process{now: now, start: time.Now(), names: map[string]*group{}}
}

type process struct {
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	names map[string]*group
	swept int64
}

// group is what is known of one name. Times are microseconds.
type group struct {
	since int64
	many  bool // it has more than one slot, and is kept for good
	slots map[int]*record
}

type record struct {
	holder             string
	until, token, mark int64
}

// time returns the clock's microseconds. The real ones never go back.
func (p *process) time() int64 {
	if p.now != nil {
		return p.now().UnixMicro()
	}
	return p.start.Add(time.Since(p.start)).UnixMicro()
}

// Capabilities implements driver.Backend.
func (*process) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: driver.Process, Durable: true, Name: "memory"}
}

// Acquire implements driver.Backend.
func (p *process) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if err := ctx.Err(); err != nil {
		return driver.Grant{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.time()
	p.sweep(now)
	g := p.group(r.Name, now)
	g.many = g.many || r.Count > 1
	slot, wait := g.pick(r, now)
	if slot < 0 {
		return driver.Grant{Wait: micros(wait)}, nil
	}
	rec := g.slot(slot)
	grant := driver.Grant{OK: true, Slot: slot, Token: max(rec.token+1, now), Mark: rec.mark, Age: micros(now - g.since)}
	*rec = record{holder: r.Holder, until: now + r.TTL.Microseconds(), token: grant.Token, mark: max(rec.mark, r.Mark)}
	return grant, nil
}

// pick returns the free slot that a request is to get, or -1 and how long none will be free.
func (g *group) pick(r driver.Request, now int64) (slot int, wait int64) {
	slot = -1
	var least int64
	for i := range r.Count {
		at := r.First + (r.Begin-r.First+i)%r.Count
		rec := g.slots[at]
		if rec == nil {
			rec = &record{}
		}
		switch left := rec.until - now; {
		case left > 0:
			if wait == 0 || left < wait {
				wait = left
			}
		case slot < 0 || rec.mark < least:
			slot, least = at, rec.mark
		}
		if slot >= 0 && least <= r.Past {
			break
		}
	}
	return slot, wait
}

// Renew implements driver.Backend.
func (p *process) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.time()
	rec := p.group(h.Name, now).slot(h.Slot)
	if rec.holder == "" && rec.token <= h.Token {
		rec.holder, rec.token = h.Holder, h.Token // forgotten, and nobody came between
	}
	if rec.holder != h.Holder {
		return false, nil
	}
	rec.until, rec.mark = now+h.TTL.Microseconds(), max(rec.mark, h.Mark)
	return true, nil
}

// Release implements driver.Backend.
func (p *process) Release(ctx context.Context, h driver.Holding) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.names[h.Name]
	if g == nil || g.slots[h.Slot] == nil || g.slots[h.Slot].holder != h.Holder {
		return false, nil
	}
	rec := g.slots[h.Slot]
	rec.holder, rec.until, rec.mark = released, min(rec.until, p.time()), h.Mark
	return true, nil
}

// released is the holder of a record that was given back: not one that was forgotten.
const released = "-"

func (p *process) group(name string, now int64) *group {
	g := p.names[name]
	if g == nil {
		g = &group{since: now, slots: map[int]*record{}}
		p.names[name] = g
	}
	return g
}

func (g *group) slot(i int) *record {
	rec := g.slots[i]
	if rec == nil {
		rec = &record{}
		g.slots[i] = rec
	}
	return rec
}

// sweep forgets names with one slot whose record ended a while ago, now and then.
func (p *process) sweep(now int64) {
	keep := driver.Ended.Microseconds()
	if now-p.swept < keep {
		return
	}
	p.swept = now
	for name, g := range p.names {
		if !g.many && g.ended(now-keep) {
			delete(p.names, name)
		}
	}
}

// ended reports whether all records ended before a time.
func (g *group) ended(before int64) bool {
	for _, rec := range g.slots {
		if rec.until >= before {
			return false
		}
	}
	return true
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
