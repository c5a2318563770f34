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
	getBare := func(key string) bool {
		v, ok := bare.GetIfPresent(key)
		return ok && v.Name != ""
	}
	getTyped := func(key string) bool {
		v, ok, err := typed.Get(ctx, key)
		return err == nil && ok && v.Name != ""
	}
	// A caller that stores a pointer to the value needs it on the heap.
	getBareToHeap := func(key string) bool {
		v, ok := bare.GetIfPresent(key)
		return ok && escape(&v)
	}
	getTypedToHeap := func(key string) bool {
		v, ok, err := typed.Get(ctx, key)
		return err == nil && ok && escape(v)
	}
	setBare := func(key string) bool {
		bare.Set(key, account{ID: 1, Name: "Ada"})
		return true
	}
	setTyped := func(key string) bool {
		return typed.Set(ctx, key, &account{ID: 1, Name: "Ada"}, xcache.WithTTL(time.Hour)) == nil
	}
	return []comparison{
		{
			name: "typed set", peer: "otter", target: 1.2, allocs: 2,
			ours: sequential(setTyped, keys, trace), theirs: sequential(setBare, keys, trace),
		},
		{
			name: "typed get", peer: "otter", target: 1.1, allocs: 1,
			ours: sequential(getTyped, keys, trace), theirs: sequential(getBare, keys, trace),
		},
		{
			name: "typed get, parallel", peer: "otter", target: 1.1, allocs: 1,
			ours: parallel(getTyped, keys, trace), theirs: parallel(getBare, keys, trace),
		},
		{
			name: "typed get, value on the heap", peer: "otter and a copy", target: 1.1, allocs: 1,
			ours: sequential(getTypedToHeap, keys, trace), theirs: sequential(getBareToHeap, keys, trace),
		},
		{
			name: "typed get, value on the heap, parallel", peer: "otter and a copy",
			target: 1.1, allocs: 1,
			ours: parallel(getTypedToHeap, keys, trace), theirs: parallel(getBareToHeap, keys, trace),
		},
	}
}

// escape is a variable, so that the compiler moves its argument to the heap.
var escape = func(v *account) bool { return v.Name != "" }

// zipf returns indexes below n with a Zipf distribution. The frequent indexes are spread
// over the range.
func zipf(n, length int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.01, 1, uint64(n-1))
	positions := r.Perm(n)
	trace := make([]int32, length)
	for i := range trace {
		trace[i] = int32(positions[z.Uint64()]) // below n
	}
	return trace
}

func sequential(get func(string) bool, keys []string, trace []int32) func(*testing.B) {
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
