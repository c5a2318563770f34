package xlease

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// InProcess returns a backend for the goroutines of this process. now replaces the system
// clock in tests. If now is nil, the backend uses the system clock.
func InProcess(now func() time.Time) driver.Backend {
	start := time.Now()
	clock := func() int64 { return start.Add(time.Since(start)).UnixMicro() } // monotonic
	if now != nil {
		clock = func() int64 { return now().UnixMicro() }
	}
	return &local{
		storage:      &process{names: map[string]*group{}},
		capabilities: driver.Capabilities{Scope: driver.Process, Durable: true, Name: "memory"},
		now:          clock,
	}
}

// process stores records in memory.
type process struct {
	mu    sync.Mutex
	names map[string]*group
	swept int64 // time of the last sweep
}

// group contains the records of one name.
type group struct {
	start int64
	slots map[int]record
}

func (p *process) with(
	ctx context.Context, name string, now int64, do func(rs records) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	g := p.names[name]
	if g == nil {
		g = &group{start: now, slots: map[int]record{}}
		p.names[name] = g
	}
	return do(g)
}

// Prepare implements storage.
func (*process) Prepare(context.Context) error { return nil }

// Close implements storage.
func (*process) Close() error { return nil }

// sweep occasionally removes names that have one slot, no mark and an expired record.
func (p *process) sweep(now int64) {
	retention := driver.Retention.Microseconds()
	if now-p.swept < retention {
		return
	}
	p.swept = now
	maps.DeleteFunc(p.names, func(_ string, g *group) bool { return g.expired(now - retention) })
}

// expired reports whether the name has one slot, no mark for the next holder, and a
// record that expired before the given time.
func (g *group) expired(before int64) bool {
	for slot, rec := range g.slots {
		if slot > 0 || rec.mark != 0 || rec.until >= before {
			return false
		}
	}
	return true
}

func (g *group) read(slot int) (record, error) { return g.slots[slot], nil }

func (g *group) write(slot int, r record) error {
	g.slots[slot] = r
	return nil
}

func (g *group) since() int64 { return g.start }
