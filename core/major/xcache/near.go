package xcache

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// near keeps copies of values of a server in a store in the process, and drops them when
// the server says that they have changed (driver.Invalidator).
//
// # Coherence
//
//   - A read that the near cache cannot answer takes a ticket before it goes to the
//     server. What it brings is kept only if nobody has written or invalidated a key of
//     the same shard since the ticket, and the watch has been up all the time. The test
//     and the keeping are one step under the shard's lock, and so are an invalidation's
//     count and its removal: a value that the server has changed is either not kept, or
//     removed right after.
//   - A write of this process drops its keys after the server has answered, also with an
//     error: the outcome may be unknown. So a process reads what it has written.
//   - A copy carries the epoch of its ticket, and is seen in that epoch only. To drop
//     everything is to begin a new epoch: one step, however many copies there are. The
//     old ones are overwritten, evicted or expire.
//   - While the watch is down, no epoch is valid: nothing is found, nothing is kept,
//     every read goes to the server.
//
// # Staleness
//
// While the watch is up, a copy is stale for as long as the server's message takes to
// arrive, and no longer. When its connection dies without a word, a copy is stale for
// Invalidator.Staleness at most, of the time in which the process runs. Whatever happens,
// no copy is older than the near cache's TTL, and none outlives its key. Within these
// bounds a process may see a new value and then the old one again, but never one older
// than a write of its own that has returned.
type near struct {
	store  driver.Store
	values driver.ObjectStore // the same
	ttl    time.Duration
	seed   maphash.Seed

	// epoch is odd while the watch is up. Only the watch changes that; whoever drops
	// everything adds 2.
	epoch  atomic.Uint64
	shards [nearShards]nearShard

	server driver.Invalidator
	stop   context.CancelFunc
}

const (
	// nearShards is the number of parts of the keys. A read is kept if no key of its part
	// changes while it is on its way.
	nearShards = 256
	// nearSlack is how much earlier than its key a copy ends, since a store in the
	// process may show it a little longer.
	nearSlack = 10 * time.Millisecond
)

// nearShard is a part of the keys.
type nearShard struct {
	sync.Mutex
	changes atomic.Uint64 // written under the lock
	_       [48]byte      // no two on one cache line
}

// ticket is what a read knows before it goes to the server.
type ticket struct {
	shard   *nearShard
	changes uint64
	epoch   uint64
	at      time.Time
}

func (n *near) shard(key string) *nearShard {
	return &n.shards[maphash.String(n.seed, key)%nearShards]
}

// ticket is taken before a read of key.
func (n *near) ticket(key string) ticket {
	s := n.shard(key)
	return ticket{shard: s, changes: s.changes.Load(), epoch: n.epoch.Load(), at: time.Now()}
}

// tickets are taken before a read of many keys.
func (n *near) tickets(keys []string) []ticket {
	list := make([]ticket, len(keys))
	for i, key := range keys {
		list[i] = n.ticket(key)
	}
	return list
}

// keep puts what a read has brought under key, unless it may be old. The object is of the
// ticket's epoch; ttl is what the server said of the key's life, 0 for ever or unknown.
func (n *near) keep(ctx context.Context, key string, t ticket, e *driver.Entry, ttl time.Duration) {
	life := n.ttl
	if ttl > 0 {
		life = min(life, ttl-nearSlack)
	}
	life -= time.Since(t.at) // since the server counts from a time that is not before the ticket
	if life = life.Truncate(time.Millisecond); life <= 0 || t.epoch%2 == 0 {
		return
	}
	t.shard.Lock()
	defer t.shard.Unlock()
	if t.shard.changes.Load() == t.changes && n.epoch.Load() == t.epoch {
		_, _ = n.values.SetObject(ctx, key, e, driver.Write{TTL: life}) // else it is not kept
	}
}

// drop forgets keys that somebody has changed, whatever becomes of ctx. A nil near has
// none.
func (n *near) drop(ctx context.Context, keys ...string) {
	if n == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, key := range keys {
		if n.forget(ctx, key) != nil {
			n.dropAll()
		}
	}
}

func (n *near) forget(ctx context.Context, key string) error {
	s := n.shard(key)
	s.Lock()
	defer s.Unlock()
	s.changes.Add(1)
	_, err := n.store.Delete(ctx, key)
	return err
}

// dropAll forgets everything.
func (n *near) dropAll() { n.epoch.Add(2) }

// Connected implements driver.Watcher. What was read before may have changed unseen.
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

// close ends the watch and the store of the copies. A nil near has nothing to end.
func (n *near) close() error {
	if n == nil {
		return nil
	}
	n.stop()
	n.dropAll()
	return n.store.Close()
}
