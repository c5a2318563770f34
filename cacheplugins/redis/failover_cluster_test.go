package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// shard is a hash tag with its slot and the master of the slot.
type shard struct {
	tag   string
	slot  int
	owner string
}

// shards returns hash tags that cover all masters.
func shards(t *testing.T, c *goredis.Client) []shard {
	t.Helper()
	ranges, err := c.ClusterSlots(t.Context()).Result() //nolint:staticcheck // supports Redis 6
	if err != nil {
		t.Fatal(err)
	}
	all := make([]shard, 48)
	for i := range all {
		tag := "{" + strconv.Itoa(i) + "}"
		slot, err := c.ClusterKeySlot(t.Context(), tag).Result()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = shard{tag: tag, slot: int(slot)}
		for _, r := range ranges {
			if r.Start <= all[i].slot && all[i].slot <= r.End {
				all[i].owner = r.Nodes[0].Addr
			}
		}
	}
	return all
}

func (s shard) key(worker, i int) string { return s.tag + plainName(worker, i) }

// ownedBy returns the shards of a master, or all others if owned is false.
func ownedBy(all []shard, owner string, owned bool) []shard {
	return slices.DeleteFunc(slices.Clone(all),
		func(s shard) bool { return (s.owner == owner) != owned })
}

// spread returns keys that alternate between the shards.
func spread(shards []shard) func(worker, i int) string {
	return func(worker, i int) string { return shards[i%len(shards)].key(worker, i) }
}

func TestCluster_Failover(t *testing.T) {
	s := cachetest.StartServers(t, "redis-cluster")
	m := openServers(t, s.URL)
	victim := master(t, s)
	all := shards(t, direct(t, s, victim))
	affected := startWrites(m, 4, deadline, spread(ownedBy(all, victim.Address, true)))
	unaffected := startWrites(m, 4, deadline, spread(ownedBy(all, victim.Address, false)))
	sleep(time.Second)
	if err := s.Kill(victim.Name); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	recovered := affected.allSucceeded(killed, failover) &&
		unaffected.allSucceeded(killed, failover)
	sleep(500 * time.Millisecond)
	affected.end()
	unaffected.end()
	if !recovered {
		t.Fatalf("no new master %s after the failure: %v", failover, affected.problem)
	}
	for _, w := range []struct {
		name string
		*writeLoad
	}{{"the slots of the master", affected}, {"the other slots", unaffected}} {
		w.wantBounded(t)
		lost := w.lost(t, m)
		wantRecentLosses(t, lost, killed)
		s.Note("master killed, keys in %s: %s; %d of %d acknowledged writes lost",
			w.name, w.writeLoad, len(lost), len(w.acked))
	}
}

func TestCluster_SlotMigration(t *testing.T) {
	s := cachetest.StartServers(t, "redis-cluster")
	m := openServers(t, s.URL)
	masters := slices.DeleteFunc(slices.Clone(s.Nodes),
		func(n cachetest.Node) bool { return n.Role != "master" })
	all := shards(t, direct(t, s, masters[0]))
	moved := ownedBy(all, masters[0].Address, true)
	hashes := xcache.HashCacheOf[string, string, int, struct{}](m)
	name := spread(moved)
	w := startWrites(m, 4, slowTimeout, name)
	calls := beginLoad(2, slowTimeout, func(ctx context.Context, worker, i int) error {
		return hashes.Set(ctx, moved[i%len(moved)].tag+"hash",
			strconv.Itoa(worker), &i, xcache.WithTTL(time.Minute))
	})
	reads := beginLoad(2, slowTimeout, func(ctx context.Context, worker, i int) error {
		return w.reread(ctx, name(worker, i/2))
	})
	sleep(500 * time.Millisecond)
	start := time.Now()
	for _, sh := range moved {
		move(t, s, masters, sh.slot)
	}
	elapsed := time.Since(start)
	sleep(500 * time.Millisecond)
	for _, l := range []*load{w.load, calls, reads} {
		l.end()
		l.wantBounded(t)
		if l.failed > 0 {
			t.Errorf("%d of %d calls failed during the migration: %v", l.failed, l.calls, l.problem)
		}
	}
	lost := w.lost(t, m)
	if len(lost) > 0 {
		t.Error("acknowledged writes were lost")
	}
	s.Note("%d slots moved in %s under load: %d of %d calls failed, "+
		"%d of %d acknowledged writes lost",
		len(moved), round(elapsed), w.failed+calls.failed+reads.failed,
		w.calls+calls.calls+reads.calls, len(lost), len(w.acked))
	wantScanned(t, m, w)
}

// reread reads a key and reports a missing acknowledged write.
func (w *writeLoad) reread(ctx context.Context, key string) error {
	w.mu.Lock()
	_, acked := w.acked[key]
	w.mu.Unlock()
	_, ok, err := w.keys.Get(ctx, key)
	if err == nil && acked && !ok {
		err = fmt.Errorf("%s is missing", key)
	}
	return err
}

// wantScanned fails the test unless a scan of the cluster finds every written key.
func wantScanned(t *testing.T, m *xcache.Manager, w *writeLoad) {
	t.Helper()
	found := map[string]bool{}
	for key, err := range xcache.KeyCacheOf[string, int](m).Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found[key] = true
	}
	for name := range w.acked {
		if !found[name] {
			t.Fatalf("Scan returned %d keys without %s", len(found), name)
		}
	}
}

// move migrates a slot from the first master to the second one, like redis-cli.
// https://redis.io/docs/latest/commands/cluster-setslot/
func move(t *testing.T, s *cachetest.Servers, masters []cachetest.Node, slot int) {
	t.Helper()
	ctx := t.Context()
	from, to := direct(t, s, masters[0]), direct(t, s, masters[1])
	ids := make([]string, 2)
	for i, c := range []*goredis.Client{from, to} {
		id, err := c.ClusterMyID(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	do := func(c *goredis.Client, args ...any) {
		t.Helper()
		if err := c.Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	do(to, "cluster", "setslot", slot, "importing", ids[0])
	do(from, "cluster", "setslot", slot, "migrating", ids[1])
	host, port, _ := strings.Cut(masters[1].Address, ":")
	for {
		keys, err := from.ClusterGetKeysInSlot(ctx, slot, 20).Result()
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 0 {
			break
		}
		args := []any{"migrate", host, port, "", 0, 5000, "auth", s.Password, "keys"}
		for _, key := range keys {
			args = append(args, key)
		}
		do(from, args...)
	}
	for _, n := range []int{1, 0, 2} { // the new owner first
		do(direct(t, s, masters[n]), "cluster", "setslot", slot, "node", ids[1])
	}
}

func TestCluster_Batches(t *testing.T) {
	s := cachetest.StartServers(t, "redis-cluster")
	m := openServers(t, s.URL)
	keys := xcache.KeyCacheOf[int, int](m)
	items, all := map[int]int{}, make([]int, 1000)
	for i := range all {
		items[i], all[i] = 2*i, i
	}
	if err := keys.SetMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	got, err := keys.GetMany(t.Context(), slices.Concat(all, []int{-1}))
	if err != nil || len(got) != len(items) || got[999] != 1998 {
		t.Errorf("GetMany = %d items, %v; want %d", len(got), err, len(items))
	}
	scanned := 0
	for _, err := range keys.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		scanned++
	}
	if scanned < len(items) {
		t.Errorf("Scan returned %d keys, want %d", scanned, len(items))
	}
	if n, err := keys.DeleteMany(t.Context(), all); err != nil || n != len(all) {
		t.Errorf("DeleteMany = %d, %v; want %d", n, err, len(all))
	}
	empty := 0
	for _, n := range s.Nodes {
		if size, err := direct(t, s, n).DBSize(t.Context()).Result(); err == nil && size == 0 {
			empty++
		}
	}
	if empty == 0 {
		t.Error("no node is empty after DeleteMany")
	}
}
