package memory_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestStore_MaxEntries_Concurrent(t *testing.T) {
	// A write in progress may exceed the limit by one entry.
	//
	// The reader iterates from the newest key to the oldest. Keys are not rewritten and
	// each writer writes them in order, so the reader counts only keys that were visible
	// when it found the first.
	t.Run("exceeds the limit only while a write is in progress", func(t *testing.T) {
		const bound, keys = 8, 2000
		for _, shards := range []int{1, 4, 64} {
			t.Run(strconv.Itoa(shards)+" shards", func(t *testing.T) {
				store := openStore(t, driver.Config{
					MaxEntries: bound,
					Source:     xenv.Map{"NOSQL_MEMORY_SHARD_COUNT": strconv.Itoa(shards)},
				})
				var newest atomic.Int64
				var maxSeen atomic.Int64
				count := func() (seen int64) {
					top := newest.Load()
					for i := top; i >= max(0, top-100); i-- {
						if ok, _ := store.Exists(t.Context(), strconv.FormatInt(i, 10)); ok {
							seen++
						}
					}
					for old := maxSeen.Load(); seen > old &&
						!maxSeen.CompareAndSwap(old, seen); old = maxSeen.Load() {
					}
					return seen
				}
				done := make(chan struct{})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
								count()
							}
						}
					})
				}
				for i := range int64(keys) {
					newest.Store(i)
					writeKind(t, store, int(i), strconv.FormatInt(i, 10))
				}
				close(done)
				wg.Wait()
				if got := maxSeen.Load(); got > bound+1 {
					t.Errorf("a reader saw %d entries, want at most %d and the one being written",
						got, bound)
				}
				if got := count(); got > bound {
					t.Errorf("%d entries after the last write, want at most %d", got, bound)
				}
			})
		}
	})

	// After each write the limit is enforced, regardless of the number of concurrent
	// writers.
	t.Run("enforces the limit after concurrent writes", func(t *testing.T) {
		const bound, writers = 16, 8
		store := openStore(t, entries(bound))
		for round := range 300 {
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() { writeKind(t, store, round+w, name(name("k", round)+"-", w)) })
			}
			wg.Wait()
			seen := 0
			for r := max(0, round-50); r <= round; r++ {
				for w := range writers {
					if exists(t, store, name(name("k", r)+"-", w)) {
						seen++
					}
				}
			}
			if seen > bound {
				t.Fatalf("round %d: %d entries, want at most %d", round, seen, bound)
			}
		}
	})
}

func TestSweeper_Bound(t *testing.T) {
	t.Run("makes room for new entries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const bound = 300
			s := openStore(t, entries(bound))
			for round := range 50 {
				for i := range bound {
					set(t, s, name("old", i),
						driver.Write{TTL: time.Duration(1+i%20) * time.Millisecond})
				}
				<-time.After(40 * time.Millisecond)
				synctest.Wait()
				for i := range bound {
					set(t, s, name("new", i), driver.Write{TTL: 10 * time.Millisecond})
				}
				for i := range bound {
					if !exists(t, s, name("new", i)) {
						t.Fatalf("round %d: new%d is missing", round, i)
					}
				}
				<-time.After(40 * time.Millisecond)
			}
		})
	})

	// Reads do not depend on the sweeper, which may be delayed or starved.
	t.Run("is not needed to hide expired entries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, entries(100))
			set(t, s, "an hour", driver.Write{TTL: time.Hour})
			synctest.Wait()
			memory.StopSweeper(s)
			const ttl = 2 * time.Hour
			set(t, s, "value", driver.Write{TTL: ttl})
			if _, _, err := s.ListPush(t.Context(), "list",
				driver.Tail, [][]byte{{1}}, driver.Write{TTL: ttl}); err != nil {
				t.Fatal(err)
			}
			<-time.After(ttl - 1)
			if !exists(t, s, "value") || !exists(t, s, "list") {
				t.Error("an entry is missing a nanosecond before its deadline")
			}
			<-time.After(1)
			reads := map[string]bool{
				"Exists":           exists(t, s, "value"),
				"Exists of a list": exists(t, s, "list"),
			}
			_, reads["Get"], _ = s.Get(t.Context(), "value")
			_, reads["GetObject"], _ = s.GetObject(t.Context(), "value")
			_, reads["TTL"], _ = s.TTL(t.Context(), "value")
			n, _ := s.ListLen(t.Context(), "list")
			reads["ListLen"] = n > 0
			_, reads["ListIndex"], _ = s.ListIndex(t.Context(), "list", 0)
			_ = s.(driver.Scanner).Scan(t.Context(), "",
				func(keys []string) bool { reads["Scan"] = len(keys) > 0; return true })
			for read, found := range reads {
				if found {
					t.Errorf("%s returns an expired entry", read)
				}
			}
			if removed, err := s.Delete(t.Context(), "value"); removed != 0 || err != nil {
				t.Errorf("Delete = %d, %v; want 0 removed", removed, err)
			}
		})
	})
}
