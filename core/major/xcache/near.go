package xcache

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// near caches copies of a server's values in an in-process store. It drops a copy when
// the server reports a change of its key (driver.Invalidator).
//
// # Coherence
//
//   - A read that misses the near cache gets a ticket before it queries the server. Its
//     result is stored only if no key of the same shard was written or invalidated since
//     the ticket, and if the watch was up throughout. The check and the store hold the
//     shard's lock, as do the change counter and the removal of an invalidation. So a
//     changed value is either not stored, or removed right after.
//   - A write of this process drops its keys after the server responded, even with an
//     error, because the outcome may be unknown. So a process reads its own writes.
//   - A copy has the epoch of its ticket and is valid in that epoch only. Starting a new
//     epoch drops all copies in one step. Old copies are overwritten, evicted or expire.
//   - While the watch is down, no epoch is valid: every read queries the server, and no
//     result is stored.
//
// # Staleness
//
// While the watch is up, a copy is stale until the server's message arrives. If the
// connection breaks silently, a copy is stale for at most Invalidator.Staleness, not
// counting time in which the process is suspended. No copy is older than the near cache's
// TTL or outlives its key. Within these bounds a process may read a new value and then
// the previous one again, but never a value older than its own completed write.
type near struct {
	store  driver.Store
	values driver.ObjectStore // the same store
	ttl    time.Duration
	seed   maphash.Seed

	// epoch is odd while the watch is up. Only the watch changes its parity; dropAll adds
	// 2.
	epoch  atomic.Uint64
	shards [nearShards]nearShard

	server driver.Invalidator
	stop   context.CancelFunc
}

const (
	// nearShards is the number of shards. A read is stored only if no key of its shard
	// changes during the read.
	nearShards = 256
	// nearSlack is subtracted from the TTL of a copy, because an in-process store may
	// return an expired value slightly longer.
	nearSlack = 10 * time.Millisecond
)

// nearShard counts the changes of the keys of one shard.
type nearShard struct {
	sync.Mutex
	changes atomic.Uint64 // written under the lock
	_       [48]byte      // padding against false sharing
}

// ticket is the state of the near cache before a read of the server.
type ticket struct {
	shard   *nearShard
	changes uint64
	epoch   uint64
	at      time.Time
}

func (n *near) shard(key string) *nearShard {
	return &n.shards[maphash.String(n.seed, key)%nearShards]
}

// ticket returns a ticket for a read of key.
func (n *near) ticket(key string) ticket {
	s := n.shard(key)
	return ticket{shard: s, changes: s.changes.Load(), epoch: n.epoch.Load(), at: time.Now()}
}

// tickets returns tickets for a read of keys.
func (n *near) tickets(keys []string) []ticket {
	list := make([]ticket, len(keys))
	for i, key := range keys {
		list[i] = n.ticket(key)
	}
	return list
}

// keep stores the result of a read under key, unless it may be stale. The object has the
// ticket's epoch; ttl is the remaining TTL of the key, 0 if it is unlimited or unknown.
func (n *near) keep(ctx context.Context, key string, t ticket, e *driver.Entry, ttl time.Duration) {
	copyTTL := n.ttl
	if ttl > 0 {
		copyTTL = min(copyTTL, ttl-nearSlack)
	}
	copyTTL -= time.Since(t.at) // the server measured ttl after the ticket was issued
	if copyTTL = copyTTL.Truncate(time.Millisecond); copyTTL <= 0 || t.epoch%2 == 0 {
		return
	}
	t.shard.Lock()
	defer t.shard.Unlock()
	if t.shard.changes.Load() == t.changes && n.epoch.Load() == t.epoch {
		// if it fails, there is no copy
		_, _ = n.values.SetObject(ctx, key, e, driver.Write{TTL: copyTTL})
	}
}

// drop removes changed keys, even if ctx has ended. It does nothing on a nil near.
func (n *near) drop(ctx context.Context, keys ...string) {
	if n == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, key := range keys {
		if n.remove(ctx, key) != nil {
			n.dropAll()
		}
	}
}

func (n *near) remove(ctx context.Context, key string) error {
	s := n.shard(key)
	s.Lock()
	defer s.Unlock()
	s.changes.Add(1)
	_, err := n.store.Delete(ctx, key)
	return err
}

// dropAll invalidates all copies.
func (n *near) dropAll() { n.epoch.Add(2) }

// Connected implements driver.Watcher. It starts a new epoch, because earlier changes may
// have been missed.
func (n *near) Connected() {
	n.Disconnected()
	n.epoch.Add(1)
}

// Disconnected implements driver.Watcher.
func (n *near) Disconnected() {
	if n.epoch.Load()%2 == 1 {
		n.epoch.Add(1)
	}
}

// Invalidate implements driver.Watcher.
func (n *near) Invalidate(keys []string) {
	if keys == nil {
		n.dropAll()
		return
	}
	n.drop(context.Background(), keys...)
}

// close stops the watch and closes the store of the copies. It does nothing on a nil
// near.
func (n *near) close() error {
	if n == nil {
		return nil
	}
	n.stop()
	n.dropAll()
	return n.store.Close()
}
