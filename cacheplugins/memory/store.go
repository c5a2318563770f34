package memory

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// store implements driver.Store, driver.ObjectStore, driver.Scanner and driver.Leaser.
//
// Every write of a key runs under the key's shard, so it may look first and write then. What the engine
// holds is an object of the caller's, driver.Bytes, or a collection of this package, each with its deadline.
type store struct {
	engine *otter.Cache[string, entry]
	clock  *clock
	expiry *expiry
	ttl    time.Duration
	max    int

	seed   maphash.Seed
	shards []shard

	// room keeps the bound. Writes that cannot exceed it share the lock. One that may takes it alone,
	// hides its key while the engine holds one entry too many, and lets the engine evict.
	room   sync.RWMutex
	hidden atomic.Pointer[string]

	leases leasedriver.Backend

	tasks   tasks
	sweeper sync.WaitGroup
	stop    chan struct{}
	closed  atomic.Bool
}

// shard is one of the locks, with the write that goes on under it.
type shard struct {
	sync.RWMutex
	write pending
	_     [64]byte // no two locks on one cache line
}

// maxTable bounds the table that is made at once. A table that grows holds up writers for as long as it
// takes to copy it, which is long for a large one.
const maxTable = 1 << 20

func newStore(set settings, now func() time.Time) (*store, error) {
	s := &store{
		ttl: set.DefaultTTL, max: set.MaxEntries, clock: newClock(now),
		seed: maphash.MakeSeed(), shards: make([]shard, set.ShardCount), leases: xlease.InProcess(now),
		stop: make(chan struct{}),
	}
	s.expiry = newExpiry(len(s.shards), s.clock.seen)
	engine, err := otter.New(&otter.Options[string, entry]{
		MaximumSize:      s.max,
		InitialCapacity:  min(s.max, maxTable),
		OnAtomicDeletion: s.expiry.forget,
		Executor:         s.maintain,
	})
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	s.engine = engine
	for i := range s.shards {
		s.shards[i].write.init(s, i)
	}
	if now == nil { // else writers sweep: nobody tells when the given time has moved
		s.sweeper.Go(s.sweep)
	}
	return s, nil
}

func (s *store) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

// lookup returns what the key holds, or nil.
func (s *store) lookup(key string) entry {
	e, ok := s.engine.GetIfPresent(key)
	if !ok || (e.Deadline != never && ended(e, s.clock.seen())) || s.hides(key) {
		return nil
	}
	return e
}

// hides reports whether the key is not to be seen yet.
func (s *store) hides(key string) bool {
	h := s.hidden.Load()
	return h != nil && *h == key
}

// err is the error of a call that found nothing: a closed store has nothing.
func (s *store) err() error {
	if s.closed.Load() {
		return driver.ErrClosed
	}
	return nil
}

// GetObject implements driver.ObjectStore.
func (s *store) GetObject(_ context.Context, key string) (*driver.Entry, bool, error) {
	if e := s.lookup(key); e != nil {
		return e, true, nil
	}
	return nil, false, s.err()
}

// SetObject implements driver.ObjectStore.
func (s *store) SetObject(_ context.Context, key string, e *driver.Entry, w driver.Write) (bool, error) {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	if err := s.err(); err != nil {
		return false, err
	}
	if w.If != driver.Always && !w.If.Holds(s.lookup(key) != nil) {
		return false, nil
	}
	s.put(sh, key, e, w)
	return true, nil
}

// Get implements driver.Keys.
func (s *store) Get(_ context.Context, key string) ([]byte, bool, error) {
	e := s.lookup(key)
	if e == nil {
		return nil, false, s.err()
	}
	value, err := e.Object.Encode()
	return value, err == nil, err
}

// Set implements driver.Keys.
func (s *store) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	return s.SetObject(ctx, key, &driver.Entry{Object: driver.Bytes(value)}, w)
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
	e, ok := s.engine.Invalidate(key)
	return ok && !ended(e, s.clock.seen())
}

// Exists implements driver.Keys.
func (s *store) Exists(_ context.Context, key string) (bool, error) {
	if s.lookup(key) != nil {
		return true, nil
	}
	return false, s.err()
}

// DefaultTTL implements driver.Defaults.
func (s *store) DefaultTTL() time.Duration { return s.ttl }

// Describe implements driver.Describer.
func (s *store) Describe() string { return fmt.Sprintf("memory, %d entries at most", s.max) }

// Ping implements driver.Store.
func (s *store) Ping(ctx context.Context) error { return s.ready(ctx) }

// Close implements driver.Store. It waits for the sweeper and the engine's goroutines.
func (s *store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	for i := range s.shards { // a write that has begun ends, and the next sees that the store is closed
		s.shards[i].Lock()
		s.shards[i].Unlock() //nolint:staticcheck // SA2001: the empty section is the wait
	}
	close(s.stop)
	s.sweeper.Wait()
	s.engine.InvalidateAll()
	s.tasks.wait()
	return nil
}
