package memory

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// store implements driver.Store and driver.ObjectStore.
//
// Every write of a key runs under the key's shard, so it may look first and write then. What the engine
// holds is an object of the caller's, driver.Bytes, or a collection of this package.
type store struct {
	engine *otter.Cache[string, driver.Object]
	clock  clock
	ttl    time.Duration
	max    int

	seed   maphash.Seed
	shards []shard

	// room keeps the bound. Writes that cannot exceed it share the lock. One that may takes it alone,
	// hides its key while the engine holds one entry too many, and lets the engine evict.
	room   sync.RWMutex
	hidden atomic.Pointer[string]

	tasks  tasks
	closed atomic.Bool
}

// shard is one of the locks.
type shard struct {
	sync.RWMutex
	write driver.Write // of the write in progress, for the engine's question how long the entry lives
	_     [64]byte     // no two locks on one cache line
}

// maxTable bounds the table that is made at once. A table that grows holds up writers for as long as it
// takes to copy it, which is long for a large one.
const maxTable = 1 << 20

func newStore(c driver.Config) (*store, error) {
	s := &store{
		ttl: c.Memory.DefaultTTL, max: c.Memory.MaxEntries,
		seed: maphash.MakeSeed(), shards: make([]shard, c.Memory.ShardCount), clock: newClock(c.Now),
	}
	engine, err := otter.New(&otter.Options[string, driver.Object]{
		MaximumSize:      s.max,
		InitialCapacity:  min(s.max, maxTable),
		ExpiryCalculator: otter.ExpiryWritingFunc(s.life),
		Executor:         s.maintain,
		Clock:            s.clock.engine,
	})
	if err != nil {
		s.clock.stop()
		return nil, fmt.Errorf("memory: %w", err)
	}
	s.engine = engine
	return s, nil
}

// never is the deadline of an entry without one. It is not the engine's own word for it, which an entry
// that is new has when life is asked.
const never = math.MaxInt64 - 1

// life tells the engine how long an entry lives that is being written.
func (s *store) life(e otter.Entry[string, driver.Object]) time.Duration {
	w := s.shard(e.Key).write
	switch {
	case w.Keep && e.ExpiresAtNano != math.MaxInt64:
		return e.ExpiresAfter()
	case w.TTL == 0:
		return time.Duration(never - e.SnapshotAtNano)
	}
	// The engine's clock is behind by some milliseconds: from now on the entry lives as long as it was
	// told to.
	behind := max(s.clock.exact()-e.SnapshotAtNano, 0)
	if int64(w.TTL) >= never-e.SnapshotAtNano-behind {
		return time.Duration(never - e.SnapshotAtNano)
	}
	return w.TTL + time.Duration(behind)
}

func (s *store) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

// lookup returns what the key holds, or nil.
func (s *store) lookup(key string) driver.Object {
	o, ok := s.engine.GetIfPresent(key)
	if !ok {
		return nil
	}
	if h := s.hidden.Load(); h != nil && *h == key {
		return nil
	}
	return o
}

// put writes under the key's shard.
func (s *store) put(key string, o driver.Object, w driver.Write) {
	s.shard(key).write = w
	if s.putShared(key, o) {
		return
	}
	s.room.Lock()
	defer s.room.Unlock()
	if s.engine.EstimatedSize() < s.max {
		s.engine.Set(key, o)
		return
	}
	s.hidden.Store(&key)
	defer s.hidden.Store(nil)
	s.engine.Set(key, o) // evicts at once, unless the engine is at it just now
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

// putShared writes where that cannot exceed the bound: every shard may be writing a new key just now, or
// the key is there already. It reports whether it did.
func (s *store) putShared(key string, o driver.Object) bool {
	s.room.RLock()
	defer s.room.RUnlock()
	if s.engine.EstimatedSize()+len(s.shards) <= s.max {
		s.engine.Set(key, o)
		return true
	}
	_, ok := s.engine.ComputeIfPresent(key, func(driver.Object) (driver.Object, otter.ComputeOp) {
		return o, otter.WriteOp
	})
	return ok
}

// err is the error of a call that found nothing: a closed store has nothing.
func (s *store) err() error {
	if s.closed.Load() {
		return driver.ErrClosed
	}
	return nil
}

// GetObject implements driver.ObjectStore.
func (s *store) GetObject(_ context.Context, key string) (driver.Object, bool, error) {
	if o := s.lookup(key); o != nil {
		return o, true, nil
	}
	return nil, false, s.err()
}

// SetObject implements driver.ObjectStore.
func (s *store) SetObject(_ context.Context, key string, o driver.Object, w driver.Write) (bool, error) {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	if err := s.err(); err != nil {
		return false, err
	}
	if w.If != driver.Always && !w.If.Holds(s.lookup(key) != nil) {
		return false, nil
	}
	s.put(key, o, w)
	return true, nil
}

// Get implements driver.Keys.
func (s *store) Get(_ context.Context, key string) ([]byte, bool, error) {
	o := s.lookup(key)
	if o == nil {
		return nil, false, s.err()
	}
	value, err := o.Encode()
	return value, err == nil, err
}

// Set implements driver.Keys.
func (s *store) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	return s.SetObject(ctx, key, driver.Bytes(value), w)
}

// Delete implements driver.Keys.
func (s *store) Delete(_ context.Context, keys ...string) (int, error) {
	removed := 0
	for _, key := range keys {
		if s.remove(key) {
			removed++
		}
	}
	return removed, s.err()
}

func (s *store) remove(key string) bool {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	_, ok := s.engine.Invalidate(key)
	return ok
}

// Exists implements driver.Keys.
func (s *store) Exists(_ context.Context, key string) (bool, error) {
	if s.lookup(key) != nil {
		return true, nil
	}
	return false, s.err()
}

// TTL implements driver.Keys.
func (s *store) TTL(_ context.Context, key string) (time.Duration, bool, error) {
	e, ok := s.engine.GetEntryQuietly(key)
	if h := s.hidden.Load(); !ok || (h != nil && *h == key) {
		return 0, false, s.err()
	}
	if e.ExpiresAtNano >= never {
		return 0, true, nil
	}
	return max(time.Duration(e.ExpiresAtNano-s.clock.exact()), 1), true, nil
}

// DefaultTTL implements driver.Defaults.
func (s *store) DefaultTTL() time.Duration { return s.ttl }

// Describe implements driver.Describer.
func (s *store) Describe() string { return fmt.Sprintf("memory, %d entries at most", s.max) }

// Ping implements driver.Store.
func (s *store) Ping(context.Context) error { return s.err() }

// Close implements driver.Store. It waits for the engine's goroutines.
func (s *store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	for i := range s.shards { // a write that has begun ends, and the next sees that the store is closed
		s.shards[i].Lock()
		s.shards[i].Unlock() //nolint:staticcheck // SA2001: the empty section is the wait
	}
	s.engine.InvalidateAll()
	s.engine.StopAllGoroutines()
	s.tasks.wait()
	s.clock.stop()
	return nil
}
