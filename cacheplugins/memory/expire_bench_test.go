package memory_test

import (
	"context"
	"runtime/metrics"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

const million = 1_000_000

// fillTime is the time limit for filling a cache with a million entries.
const fillTime = 30 * time.Second

// millionCache is a cache of a million entries, with the durations of the calls of a
// reader and a writer.
type millionCache struct {
	manager       *xcache.Manager
	cache         *xcache.KeyCache[string, account]
	keys          []string
	reads, writes []time.Duration
}

func newMillionCache(b *testing.B, c driver.Config) *millionCache {
	b.Helper()
	m := open(b, c)
	w := &millionCache{
		manager: m, cache: xcache.KeyCacheOf[string, account](m), keys: make([]string, million),
	}
	for i := range w.keys {
		w.keys[i] = "user:" + strconv.Itoa(i)
	}
	return w
}

func (w *millionCache) set(ctx context.Context, key string, ttl time.Duration) error {
	return w.cache.Set(ctx, key, &account{ID: 1}, xcache.WithTTL(ttl))
}

// run reads keys and writes other keys until end, while background runs.
func (w *millionCache) run(b *testing.B, end time.Time, writeKeys int, background func()) {
	b.Helper()
	waited := lockWait()
	var wg sync.WaitGroup
	wg.Go(background)
	wg.Go(func() {
		w.reads = timedCalls(b, end, func(i int) error {
			_, _, err := w.cache.Get(b.Context(), w.keys[i*7919%million])
			return err
		})
	})
	wg.Go(func() {
		w.writes = timedCalls(b, end, func(i int) error {
			return w.set(b.Context(), "live:"+strconv.Itoa(i%writeKeys), time.Hour)
		})
	})
	wg.Wait()
	reportAs(b, "read-", w.reads)
	reportAs(b, "write-", w.writes)
	b.ReportMetric(float64(len(w.writes)), "writes")
	b.ReportMetric(float64((lockWait() - waited).Microseconds()), "locks-µs")
}

// timedCalls repeats call until end and returns the duration of each call.
func timedCalls(b *testing.B, end time.Time, call func(i int) error) []time.Duration {
	b.Helper()
	durations := make([]time.Duration, 0, 1<<23)
	for i := 0; len(durations) < cap(durations); i++ {
		start := time.Now()
		if err := call(i); err != nil {
			b.Error(err)
		}
		stop := time.Now()
		if durations = append(durations, stop.Sub(start)); stop.After(end) {
			break
		}
	}
	return durations
}

// lockWait returns the total time that goroutines have waited for mutexes.
func lockWait() time.Duration {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}

// benchExpire measures calls while a million entries expire at the same time.
func benchExpire(b *testing.B, bound int) {
	b.Helper()
	w := newMillionCache(b, entries(bound))
	for b.Loop() {
		end := time.Now().Add(fillTime)
		for _, key := range w.keys {
			if err := w.set(b.Context(), key, time.Until(end)); err != nil {
				b.Fatal(err)
			}
		}
		if !time.Now().Before(end) {
			b.Fatal("the machine is too slow to fill the cache in time")
		}
		<-time.After(time.Until(end) - 100*time.Millisecond)
		w.run(b, end.Add(3*time.Second), 8*million, func() {})
	}
}

// benchExpireBare is benchExpire with the engine's own expiry. The engine removes all
// expired entries at once, and writers of new keys wait: the maximum shows the benefit of
// the sweeper.
func benchExpireBare(b *testing.B) {
	b.Helper()
	c := bare(b, million+million/4)
	for b.Loop() {
		end := time.Now().Add(fillTime)
		for i := range million {
			key := "user:" + strconv.Itoa(i)
			c.Set(key, account{ID: 1})
			c.SetExpiresAfter(key, time.Until(end))
		}
		<-time.After(time.Until(end) - 100*time.Millisecond)
		reportAs(b, "write-", timedCalls(b, end.Add(3*time.Second), func(i int) error {
			c.Set("live:"+strconv.Itoa(i), account{ID: 1})
			return nil
		}))
	}
}

// benchBusy measures calls without expiry next to a goroutine that only computes. The
// latencies are those of an overloaded machine.
func benchBusy(b *testing.B) {
	b.Helper()
	benchBackground(b, func(_ *xcache.Manager, end time.Time) {
		for time.Now().Before(end) { // busy
		}
	})
}

// benchScan repeats scans over all keys in the background. Compare the results with
// benchBusy.
func benchScan(b *testing.B) {
	b.Helper()
	scans := 0
	benchBackground(b, func(m *xcache.Manager, end time.Time) {
		scanner, _ := m.Store().(driver.Scanner)
		for time.Now().Before(end) {
			if err := scanner.Scan(b.Context(), "user:",
				func([]string) bool { return true }); err != nil {
				b.Error(err)
			}
			scans++
		}
	})
	b.ReportMetric(float64(scans), "scans")
}

// benchBackground reads and writes a cache of a million entries while background runs.
func benchBackground(b *testing.B, background func(m *xcache.Manager, end time.Time)) {
	b.Helper()
	w := newMillionCache(b, entries(million+million/32))
	for _, key := range w.keys {
		if err := w.set(b.Context(), key, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		end := time.Now().Add(3 * time.Second)
		w.run(b, end, million/32, func() { background(w.manager, end) })
	}
}
