package memory_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// account is a value without references.
type account struct {
	ID      int64
	Name    string
	Age     int
	Enabled bool
}

const (
	benchEntries = 100_000
	traceLen     = 1 << 20
)

// open returns a manager of a memory store.
func open(tb testing.TB, c driver.Config, opts ...xcache.ManagerOption) *xcache.Manager {
	tb.Helper()
	store, err := memory.Driver{}.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := xcache.New(store, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

// bare returns the engine, configured as an application would configure it.
func bare(tb testing.TB, entries int) *otter.Cache[string, account] {
	tb.Helper()
	c := otter.Must(&otter.Options[string, account]{
		MaximumSize:      entries,
		InitialCapacity:  entries,
		ExpiryCalculator: otter.ExpiryWriting[string, account](time.Hour),
	})
	tb.Cleanup(func() { c.StopAllGoroutines() })
	return c
}

func benchKeys() []string {
	keys := make([]string, benchEntries)
	for i := range keys {
		keys[i] = "user:" + strconv.Itoa(i)
	}
	return keys
}

// zipf returns random indexes below n with a skewed distribution.
func zipf(n, length int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.01, 1, uint64(n-1))
	place := r.Perm(n)
	out := make([]int32, length)
	for i := range out {
		out[i] = int32(place[z.Uint64()])
	}
	return out
}

// getter gets a key and reports whether it was found.
type getter func(key string) bool

func bareGetter(tb testing.TB) getter {
	c := bare(tb, 2*benchEntries)
	for i, key := range benchKeys() {
		c.Set(key, account{ID: int64(i), Name: "Ada"})
	}
	return func(key string) bool {
		v, ok := c.GetIfPresent(key)
		return ok && v.Name != ""
	}
}

// copiedGetter is the engine with a heap copy for each caller, like the typed view.
func copiedGetter(tb testing.TB) getter {
	c := bare(tb, 2*benchEntries)
	for i, key := range benchKeys() {
		c.Set(key, account{ID: int64(i), Name: "Ada"})
	}
	return func(key string) bool {
		v, ok := c.GetIfPresent(key)
		return ok && sink(&v)
	}
}

// sink makes values escape to the heap.
var sink = func(v *account) bool { return v.Name != "" }

func typedGetter(tb testing.TB, opts ...xcache.ViewOption) getter {
	tb.Helper()
	c, ctx := filled(tb, opts...), tb.Context()
	return func(key string) bool {
		v, ok, err := c.Get(ctx, key)
		return err == nil && ok && v.Name != ""
	}
}

// escapingGetter makes the value escape to the heap.
func escapingGetter(tb testing.TB, opts ...xcache.ViewOption) getter {
	tb.Helper()
	c, ctx := filled(tb, opts...), tb.Context()
	return func(key string) bool {
		v, ok, err := c.Get(ctx, key)
		return err == nil && ok && sink(v)
	}
}

func filled(tb testing.TB, opts ...xcache.ViewOption) *xcache.KeyCache[string, account] {
	tb.Helper()
	m := open(tb, driver.Config{MaxEntries: 2 * benchEntries})
	c := xcache.KeyCacheOf[string, account](m, opts...)
	for i, key := range benchKeys() {
		if err := c.Set(tb.Context(), key, &account{ID: int64(i), Name: "Ada"},
			xcache.WithTTL(time.Hour)); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

// benchGet measures get, sequentially and in parallel.
func benchGet(b *testing.B, get getter) {
	b.Helper()
	keys, trace := benchKeys(), zipf(benchEntries, traceLen)
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if !get(keys[trace[i%traceLen]]) {
				b.Fatal("missing")
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := rand.IntN(traceLen); pb.Next(); i++ {
				if !get(keys[trace[i%traceLen]]) {
					b.Error("missing")
					return
				}
			}
		})
	})
}

func BenchmarkGetBareOtter(b *testing.B) { benchGet(b, bareGetter(b)) }
func BenchmarkGetTyped(b *testing.B)     { benchGet(b, typedGetter(b)) }
func BenchmarkGetTypedPrefixed(b *testing.B) {
	benchGet(b, typedGetter(b, xcache.WithKeyPrefix("app:")))
}

func BenchmarkGetTypedImmutable(b *testing.B) {
	benchGet(b, typedGetter(b, xcache.WithImmutable()))
}

// BenchmarkGetRatio compares the typed view with the bare engine; see benchRatio.
func BenchmarkGetRatio(b *testing.B) {
	base := bareGetter(b)
	for name, get := range map[string]getter{
		"typed": typedGetter(b), "escaping": escapingGetter(b),
		"prefixed":  typedGetter(b, xcache.WithKeyPrefix("app:")),
		"immutable": typedGetter(b, xcache.WithImmutable()), "bare-and-copy": copiedGetter(b),
	} {
		benchRatio(b, name, get, base)
	}
}

// BenchmarkSetRatio compares overwrites with a TTL; see benchRatio.
func BenchmarkSetRatio(b *testing.B) {
	c := bare(b, 2*benchEntries)
	base := func(key string) bool {
		c.Set(key, account{ID: 1, Name: "Ada"})
		return true
	}
	view, ctx := filled(b), b.Context()
	typed := func(key string) bool {
		return view.Set(ctx, key, &account{ID: 1, Name: "Ada"}, xcache.WithTTL(time.Hour)) == nil
	}
	for _, key := range benchKeys() {
		base(key)
	}
	benchRatio(b, "typed", typed, base)
}

// benchRatio measures get and base alternately on slices of the trace and reports the
// median of the ratios, so that other load of the machine affects both.
func benchRatio(b *testing.B, name string, get, base getter) {
	b.Helper()
	keys, trace := benchKeys(), zipf(benchEntries, traceLen)
	for _, workers := range []int{1, 2} {
		b.Run(name+"/workers="+strconv.Itoa(workers), func(b *testing.B) {
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				measure := func(g getter) float64 { return timed(g, keys, trace, workers, i) }
				first, second := measure(get), measure(base)
				ratios = append(ratios, first/second)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

// timed returns the time that the workers need for one slice of the trace each.
func timed(g getter, keys []string, trace []int32, workers, round int) float64 {
	const length = 20_000
	var wg sync.WaitGroup
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			from := (round*workers + w) * length % (traceLen - length)
			for _, k := range trace[from : from+length] {
				g(keys[k])
			}
		})
	}
	wg.Wait()
	return float64(time.Since(start))
}

func BenchmarkSetBareOtter(b *testing.B) {
	c := bare(b, benchEntries)
	keys, trace := benchKeys(), zipf(benchEntries, traceLen)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Set(keys[trace[i%traceLen]], account{ID: int64(i), Name: "Ada"})
	}
}

func BenchmarkSetTyped(b *testing.B) {
	c := xcache.KeyCacheOf[string, account](open(b, driver.Config{MaxEntries: benchEntries}))
	keys, trace := benchKeys(), zipf(benchEntries, traceLen)
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := c.Set(ctx, keys[trace[i%traceLen]], &account{ID: int64(i), Name: "Ada"},
			xcache.WithTTL(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}

// Each insertion of a new key into a full cache evicts an entry.
func BenchmarkInsertFullBareOtter(b *testing.B) {
	c := bare(b, 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Set(strconv.Itoa(i), account{ID: int64(i), Name: "Ada"})
	}
}

func BenchmarkInsertFullTyped(b *testing.B) {
	c := xcache.KeyCacheOf[int, account](open(b, driver.Config{MaxEntries: 1000}))
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := c.Set(ctx, i, &account{ID: int64(i), Name: "Ada"},
			xcache.WithTTL(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}
