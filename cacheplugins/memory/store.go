package memory

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory/internal/collections"
	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// entry is the engine's value of a key: an object of the caller, driver.Bytes or a
// collection, with its deadline. A write replaces it, but a collection may be modified in
// place while the shard is locked.
type entry = *driver.Entry

// store implements driver.Store, driver.ObjectStore, driver.Scanner and driver.Leaser.
//
// Every write of a key holds the lock of the key's shard, so that read-modify-write is
// atomic.
type store struct {
	collections.Methods

	engine *otter.Cache[string, entry]
	clock  func() time.Time // driver.Config.Now, or nil
	start  time.Time
	ttl    time.Duration
	max    int
	leases leasedriver.Backend

	seed   maphash.Seed
	shards []shard

	next    atomic.Int64 // no entry expires before this time
	wake    chan struct{}
	sweeper sync.WaitGroup
	stop    chan struct{}
	closed  atomic.Bool
}

type shard struct {
	sync.RWMutex
	_ [64]byte // padding against false sharing
}

// maxTable limits the initial size of the table. Growing a table copies it and blocks
// writers, which is slow for a large table.
const maxTable = 1 << 20

func newStore(vars settings, now func() time.Time) (*store, error) {
	s := &store{
		ttl: vars.DefaultTTL, max: vars.MaxEntries, clock: now, start: time.Now(),
		leases: xlease.InProcess(now),
		seed:   maphash.MakeSeed(), shards: make([]shard, vars.ShardCount),
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	s.Methods = collections.New(s.view, s.change)
	s.next.Store(never)
	engine, err := otter.New(&otter.Options[string, entry]{
		MaximumSize:     s.max,
		InitialCapacity: min(s.max, maxTable),
		Executor:        s.maintain,
	})
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	s.engine = engine
	if s.clock == nil { // otherwise writers sweep, because a fake clock sends no signal
		s.sweeper.Go(s.sweep)
	}
	return s, nil
}

// maintain runs a task of the engine. If there are too many entries, the caller runs it,
// which is cheaper than a goroutine.
func (s *store) maintain(task func()) {
	if s.engine.EstimatedSize() > s.max {
		task()
		return
	}
	go task()
}

func (s *store) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

// lookup returns the entry of key, or nil.
func (s *store) lookup(key string) entry {
	now := s.now()
	e, ok := s.engine.GetIfPresent(key)
	if !ok || e.Deadline <= now {
		return nil
	}
	return e
}

// isExpired reports whether the entry has expired. An expired entry is invisible even if
// the engine still contains it.
func (s *store) isExpired(e entry) bool { return e.Deadline != never && e.Deadline <= s.now() }

// err returns ErrClosed for a closed store, which contains no entries.
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
func (s *store) SetObject(
	_ context.Context, key string, e *driver.Entry, w driver.Write,
) (bool, error) {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	if err := s.err(); err != nil {
		return false, err
	}
	e.Deadline = s.deadline(w.TTL)
	if w.If != driver.Always || w.KeepTTL {
		old := s.lookup(key)
		if !w.If.Holds(old != nil) {
			return false, nil
		}
		if w.KeepTTL && old != nil {
			e.Deadline = old.Deadline
		}
	}
	s.put(key, e)
	return true, nil
}

// put stores an entry. The caller must hold the lock of the key's shard. If there are too
// many entries, the engine evicts some before put returns.
func (s *store) put(key string, e entry) {
	if s.clock != nil && s.now() >= s.next.Load() {
		s.removeExpired()
	}
	s.engine.Set(key, e)
	s.addDeadline(e.Deadline)
	if s.engine.EstimatedSize() > s.max {
		s.engine.CleanUp()
	}
}

// Get implements driver.Store.
func (s *store) Get(_ context.Context, key string) ([]byte, bool, error) {
	e := s.lookup(key)
	if e == nil {
		return nil, false, s.err()
	}
	value, err := e.Object.Encode()
	return value, err == nil, err
}

// Set implements driver.Store.
func (s *store) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	return s.SetObject(ctx, key, &driver.Entry{Object: driver.Bytes(value)}, w)
}

// Delete implements driver.Store.
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
	return ok && !s.isExpired(e)
}

// Exists implements driver.Store.
func (s *store) Exists(_ context.Context, key string) (bool, error) {
	if s.lookup(key) != nil {
		return true, nil
	}
	return false, s.err()
}

// TTL implements driver.Store.
func (s *store) TTL(_ context.Context, key string) (time.Duration, bool, error) {
	e, ok := s.engine.GetEntryQuietly(key)
	if !ok || s.isExpired(e.Value) {
		return 0, false, s.err()
	}
	if e.Value.Deadline == never {
		return 0, true, nil
	}
	return max(time.Duration(e.Value.Deadline-s.now()), 1), true, nil
}

// DefaultTTL implements driver.Defaults.
func (s *store) DefaultTTL() time.Duration { return s.ttl }

// String implements fmt.Stringer.
func (s *store) String() string { return fmt.Sprintf("memory, at most %d entries", s.max) }

// Ping implements driver.Store.
func (s *store) Ping(ctx context.Context) error { return s.ready(ctx) }

// Close implements driver.Store. It waits for the sweeper.
func (s *store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	// in-flight writes finish, and later writes see the closed store
	for i := range s.shards {
		s.shards[i].Lock()
		s.shards[i].Unlock() //nolint:staticcheck // SA2001: the empty section is the wait
	}
	close(s.stop)
	s.sweeper.Wait()
	s.engine.InvalidateAll()
	return nil
}
