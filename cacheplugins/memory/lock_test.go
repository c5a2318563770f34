package memory_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// BenchmarkMillion measures single calls on a full cache of a million entries. Locks that
// are held for long, and other load of the machine, show in the highest percentiles.
func BenchmarkMillion(b *testing.B) {
	c := xcache.KeyCacheOf[string, account](open(b, entries(million)),
		xcache.WithViewTTL(time.Hour))
	keys := make([]string, 2*million)
	for i := range keys {
		keys[i] = "user:" + strconv.Itoa(i)
	}
	ctx := b.Context()
	v := account{ID: 1}
	fill := make([]time.Duration, 0, million)
	for _, key := range keys[:million] {
		start := time.Now()
		if err := c.Set(ctx, key, &v); err != nil {
			b.Fatal(err)
		}
		fill = append(fill, time.Since(start))
	}
	next := million
	for _, tc := range []struct {
		name string
		call func(i int) error
	}{
		{"get", func(i int) error { _, _, err := c.Get(ctx, keys[i%million]); return err }},
		{"overwrite", func(i int) error { return c.Set(ctx, keys[i%million], &v) }},
		{"insert", func(int) error { next++; return c.Set(ctx, keys[next%len(keys)], &v) }},
		{"delete", func(i int) error { return c.Delete(ctx, keys[i%million]) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			var durations []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if err := tc.call(i); err != nil {
					b.Fatal(err)
				}
				durations = append(durations, time.Since(start))
			}
			report(b, durations)
		})
	}
	b.Run("fill", func(b *testing.B) {
		for b.Loop() { // measured above
		}
		report(b, fill)
	})
	b.Run("expire", func(b *testing.B) { benchExpire(b, million+million/4) })
	b.Run("expire-full", func(b *testing.B) { benchExpire(b, million) })
	b.Run("expire-bare", benchExpireBare)
	b.Run("busy", benchBusy)
	b.Run("scan", benchScan)
}

func report(b *testing.B, durations []time.Duration) {
	b.Helper()
	reportAs(b, "", durations)
}

func reportAs(b *testing.B, prefix string, durations []time.Duration) {
	b.Helper()
	slices.Sort(durations)
	at := func(part float64) float64 {
		return float64(durations[int(part*float64(len(durations)-1))].Microseconds())
	}
	b.ReportMetric(at(0.999), prefix+"p99.9-µs")
	b.ReportMetric(at(0.99999), prefix+"p99.999-µs")
	b.ReportMetric(at(1), prefix+"max-µs")
}
