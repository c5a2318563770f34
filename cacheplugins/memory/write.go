package memory

import (
	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// pending is the write that goes on under a shard. It is what a function for the engine would otherwise
// have to capture, once a write.
type pending struct {
	expiry *expiry
	clock  *clock
	wheel  uint32
	write  func(old entry, found bool) (entry, otter.ComputeOp)
	update func(old entry) (entry, otter.ComputeOp)

	key   string
	entry entry
	keep  bool // the deadline of the entry that is there
}

// init makes p the pending write of one of the shards.
func (p *pending) init(s *store, shard int) {
	p.expiry, p.clock = s.expiry, s.clock
	p.wheel = uint32(shard % len(s.expiry.wheels)) // there are few
	p.write = func(old entry, _ bool) (entry, otter.ComputeOp) { return p.after(old), otter.WriteOp }
	p.update = func(old entry) (entry, otter.ComputeOp) { return p.after(old), otter.WriteOp }
}

// after returns what the engine holds after the entry old, which is nil if there is none. The
// engine calls it under its lock of the key.
func (p *pending) after(old entry) entry {
	e := p.entry
	if p.keep && old != nil && !ended(old, p.clock.seen()) {
		e.Deadline = old.Deadline
	}
	p.expiry.follow(p.key, p.wheel, e, old)
	return e
}

// put writes under the key's shard.
func (s *store) put(sh *shard, key string, e entry, w driver.Write) {
	if s.clock.given != nil {
		s.sweepGiven()
	}
	p := &sh.write
	e.Deadline = s.deadline(w.TTL)
	p.key, p.entry, p.keep = key, e, w.Keep
	if !s.putShared(p) {
		s.putAlone(p)
	}
	p.key, p.entry = "", nil
}

// putShared writes where that cannot exceed the bound: every shard may be writing a new key just now, and
// the sweeper removing one that the engine still counts; or the key is there already. It reports whether it
// did.
func (s *store) putShared(p *pending) bool {
	s.room.RLock()
	defer s.room.RUnlock()
	if s.engine.EstimatedSize()+len(s.shards) < s.max {
		s.engine.Compute(p.key, p.write)
		return true
	}
	_, ok := s.engine.ComputeIfPresent(p.key, p.update)
	return ok
}

// putAlone writes a key that may be one too many. What has expired makes room first.
func (s *store) putAlone(p *pending) {
	s.room.Lock()
	defer s.room.Unlock()
	if s.engine.EstimatedSize() < s.max || s.reclaim() {
		s.engine.Compute(p.key, p.write)
		return
	}
	key := p.key
	s.hidden.Store(&key)
	defer s.hidden.Store(nil)
	s.engine.Compute(key, p.write) // evicts at once, unless the engine is at it just now
	if s.engine.EstimatedSize() > s.max {
		s.engine.CleanUp()
	}
	if s.engine.EstimatedSize() > s.max {
		s.engine.Invalidate(key)
	}
}

// maintain is the engine's executor. Where an entry waits for room, its own goroutine does the work.
func (s *store) maintain(task func()) {
	if s.hidden.Load() != nil {
		task()
		return
	}
	s.tasks.run(task)
}
