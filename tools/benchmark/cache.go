package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The trace of the cache: reads follow a Zipf distribution.
const (
	cacheEntries = 100_000
	traceLength  = 1 << 20
)

// account contains no references, so the typed view can store it as is.
type account struct {
	ID      int64
	Name    string
	Age     int
	Enabled bool
}

// caches compares the typed view with its engine.
func caches() []comparison {
	ctx := context.Background()
	bare := otter.Must(&otter.Options[string, account]{
		MaximumSize: 2 * cacheEntries, InitialCapacity: cacheEntries,
		ExpiryCalculator: otter.ExpiryWriting[string, account](time.Hour),
	})
	store := must(memory.Driver{}.Open(ctx, driver.Config{MaxEntries: 2 * cacheEntries}))
	typed := xcache.KeyCacheOf[string, account](must(xcache.New(store)))
	keys := make([]string, cacheEntries)
	for i := range keys {
		keys[i] = "user:" + strconv.Itoa(i)
		v := account{ID: int64(i), Name: "Ada"}
		bare.Set(keys[i], v)
		if err := typed.Set(ctx, keys[i], &v, xcache.WithTTL(time.Hour)); err != nil {
			panic(err)
		}
	}
	trace := zipf(cacheEntries, traceLength)
	fromBare := func(key string) bool {
		v, ok := bare.GetIfPresent(key)
		return ok && v.Name != ""
	}
	fromTyped := func(key string) bool {
		v, ok, err := typed.Get(ctx, key)
		return err == nil && ok && v.Name != ""
	}
	// A caller that passes the value on needs it on the heap.
	keptBare := func(key string) bool {
		v, ok := bare.GetIfPresent(key)
		return ok && keep(&v)
	}
	keptTyped := func(key string) bool {
		v, ok, err := typed.Get(ctx, key)
		return err == nil && ok && keep(v)
	}
	bareSet := func(key string) bool {
		bare.Set(key, account{ID: 1, Name: "Ada"})
		return true
	}
	typedSet := func(key string) bool {
		return typed.Set(ctx, key, &account{ID: 1, Name: "Ada"}, xcache.WithTTL(time.Hour)) == nil
	}
	return []comparison{
		{
			name: "typed set", peer: "otter", target: 1.2, allocs: 2,
			ours: alone(typedSet, keys, trace), theirs: alone(bareSet, keys, trace),
		},
		{
			name: "typed get", peer: "otter", target: 1.1, allocs: 1,
			ours: alone(fromTyped, keys, trace), theirs: alone(fromBare, keys, trace),
		},
		{
			name: "typed get, parallel", peer: "otter", target: 1.1, allocs: 1,
			ours: parallel(fromTyped, keys, trace), theirs: parallel(fromBare, keys, trace),
		},
		{
			name: "typed get, value on the heap", peer: "otter and a copy", target: 1.1, allocs: 1,
			ours: alone(keptTyped, keys, trace), theirs: alone(keptBare, keys, trace),
		},
		{
			name: "typed get, value on the heap, parallel", peer: "otter and a copy",
			target: 1.1, allocs: 1,
			ours: parallel(keptTyped, keys, trace), theirs: parallel(keptBare, keys, trace),
		},
	}
}

// keep is a variable, so that the compiler moves its argument to the heap.
var keep = func(v *account) bool { return v.Name != "" }

// zipf returns indexes below n with a Zipf distribution. The frequent ones are spread
// over the range.
func zipf(n, length int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.01, 1, uint64(n-1))
	place := r.Perm(n)
	trace := make([]int32, length)
	for i := range trace {
		trace[i] = int32(place[z.Uint64()]) // below n
	}
	return trace
}

func alone(get func(string) bool, keys []string, trace []int32) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if !get(keys[trace[i%traceLength]]) {
				b.Fatal("missing")
			}
		}
	}
}

func parallel(get func(string) bool, keys []string, trace []int32) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := rand.IntN(traceLength); pb.Next(); i++ {
				if !get(keys[trace[i%traceLength]]) {
					b.Error("missing")
					return
				}
			}
		})
	}
}
