package memory_test

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestSweeper(t *testing.T) {
	// Keys are rewritten while the sweeper removes their expired values.
	t.Run("does not remove rewritten entries", func(t *testing.T) {
		s := openStore(t, entries(10_000))
		end := time.Now().Add(500 * time.Millisecond)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				key := func(i int) string { return name(name("k", w)+"-", i) }
				for time.Now().Before(end) {
					for i := range 500 {
						set(t, s, key(i),
							driver.Write{TTL: time.Duration(1+i%12) * time.Millisecond})
					}
					for i := range 500 {
						set(t, s, key(i), driver.Write{
							TTL: time.Hour, KeepTTL: i%2 == 0, If: driver.Condition(i % 3),
						})
						set(t, s, key(i), driver.Write{TTL: time.Hour})
					}
					for i := range 500 {
						if !exists(t, s, key(i)) {
							t.Errorf("%s expired an hour early", key(i))
							return
						}
					}
				}
			})
		}
		wg.Wait()
	})

	// The sweeper may have found the key just before its TTL was removed.
	t.Run("does not remove entries whose TTL was removed", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			s := openStore(t, entries(100))
			wg.Go(func() {
				for range 300 {
					set(t, s, "k", driver.Write{TTL: time.Millisecond})
					for exists(t, s, "k") {
						runtime.Gosched()
					}
					if set(t, s, "k", driver.Write{}); !exists(t, s, "k") {
						t.Error("the key is missing although it has no expiry")
					}
				}
			})
		}
		wg.Wait()
	})

	// Memory must not grow with the number of writes.
	t.Run("limits the memory", func(t *testing.T) {
		if raceDetector {
			t.Skip("slow with the race detector: a million writes in one goroutine")
		}
		const writes = 200_000
		day := func(i int) driver.Write {
			return driver.Write{TTL: 24*time.Hour + time.Duration(i%1000)*time.Minute}
		}
		for _, tc := range []struct {
			name  string
			write func(t *testing.T, s driver.Store, i int)
		}{
			{
				"one key",
				func(t *testing.T, s driver.Store, i int) { set(t, s, "k", day(i)) },
			},
			{"decreasing TTL", func(t *testing.T, s driver.Store, i int) {
				set(t, s, "k", driver.Write{TTL: time.Duration(writes+1-i) * time.Minute})
			}},
			{"retained expiry", func(t *testing.T, s driver.Store, i int) {
				w := day(i)
				w.KeepTTL = true
				set(t, s, "k", w)
			}},
			{"TTL set and removed", func(t *testing.T, s driver.Store, i int) {
				set(t, s, "k", driver.Write{TTL: time.Duration(i%2) * 24 * time.Hour})
			}},
			{"deleted key", func(t *testing.T, s driver.Store, i int) {
				set(t, s, "k", day(i))
				if _, err := s.Delete(t.Context(), "k"); err != nil {
					t.Fatal(err)
				}
			}},
			{
				"evicted keys",
				func(t *testing.T, s driver.Store, i int) { set(t, s, name("k", i), day(i)) },
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := openStore(t, entries(100))
				before := heap()
				for i := range writes {
					tc.write(t, s, i)
				}
				if grown := heap() - before; grown > 2<<20 {
					t.Errorf("the heap has grown by %d KB, want less than 10 bytes a write",
						grown>>10)
				}
			})
		}
	})

	t.Run("enforces the limit while entries expire", func(t *testing.T) {
		const bound = 16
		s := openStore(t, driver.Config{
			MaxEntries: bound,
			Source:     xenv.Map{"NOSQL_MEMORY_SHARD_COUNT": "4"},
		})
		const keys = 20_000
		for i := range keys {
			set(t, s, name("k", i), driver.Write{TTL: time.Duration(1+i%5) * time.Millisecond})
			if i%50 != 0 {
				continue
			}
			// oldest first, so that entries that expire during the loop are not counted
			// twice
			seen := 0
			for j := max(0, i-100); j <= i; j++ {
				if exists(t, s, name("k", j)) {
					seen++
				}
			}
			if seen > bound {
				t.Fatalf("%d keys are visible, want at most %d", seen, bound)
			}
		}
	})

	t.Run("stops on Close", func(t *testing.T) {
		for range 200 {
			s := openStore(t, entries(1000))
			for i := range 500 {
				set(t, s, name("k", i), driver.Write{TTL: time.Duration(1+i%3) * time.Millisecond})
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			if bytes.Contains(stacks, []byte("store).sweep")) {
				t.Errorf("the sweeper is running after Close:\n%s", stacks)
			}
			if _, err := s.Exists(t.Context(), "k0"); !errors.Is(err, driver.ErrClosed) {
				t.Errorf("Exists after Close = %v, want ErrClosed", err)
			}
		}
	})
}

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
