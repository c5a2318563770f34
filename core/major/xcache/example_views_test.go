package xcache_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

func ExampleKeyCache_Set() {
	ctx := application()
	users := xcache.KeyCacheOf[int64, User](xcache.MustGetManager(ctx))
	stored := false

	_ = users.Set(ctx, 7, &User{ID: 7, Name: "Ada"}, xcache.WithTTL(time.Hour))
	// the TTL is still one hour
	_ = users.Set(ctx, 7, &User{ID: 7, Name: "Bob"}, xcache.WithKeepTTL())
	// not written: the key exists
	_ = users.Set(ctx, 7, &User{ID: 7, Name: "Eve"}, xcache.WithNX(), xcache.WithStored(&stored))
	user, found, err := users.Get(ctx, 7)
	fmt.Println(user.Name, found, stored, err)
	// Output: Bob true false <nil>
}

func ExampleKeyCache_GetMany() {
	ctx := application()
	users := xcache.KeyCacheOf[int64, User](xcache.MustGetManager(ctx))

	_ = users.SetMany(ctx, map[int64]User{7: {ID: 7, Name: "Ada"}, 8: {ID: 8, Name: "Bob"}},
		xcache.WithTTL(time.Hour))
	found, err := users.GetMany(ctx, []int64{7, 8, 9})
	removed, _ := users.DeleteMany(ctx, []int64{7, 9})
	fmt.Println(slices.Sorted(maps.Keys(found)), removed, err)
	// Output: [7 8] 1 <nil>
}

func ExampleKeyCache_Keys() {
	ctx := application()
	users := xcache.KeyCacheOf[int64, User](xcache.MustGetManager(ctx),
		xcache.WithKeyPrefix("user:"))
	_ = users.SetMany(ctx, map[int64]User{7: {ID: 7}, 8: {ID: 8}})

	sum := int64(0)
	for id, err := range users.Keys(ctx) {
		if err != nil {
			fmt.Println(err)
			break
		}
		sum += id
	}
	removed, err := users.Clear(ctx)
	fmt.Println(sum, removed, err)
	// Output: 15 2 <nil>
}

func ExampleKeyCache_Keys_all() {
	ctx := application()
	cache := xcache.MustGetManager(ctx)
	users := xcache.KeyCacheOf[int64, User](cache, xcache.WithKeyPrefix("user:"))
	_ = users.Set(ctx, 7, &User{ID: 7})
	online := xcache.SetCacheOf[string, int64](cache, xcache.WithKeyPrefix("online:"))
	_, _ = online.Add(ctx, "room", []int64{7})

	all := xcache.KeyCacheOf[string, any](cache) // the keys of all views
	for key, err := range all.Keys(ctx) {
		fmt.Println(key, err)
	}
	// Unordered output:
	// online:room <nil>
	// user:7 <nil>
}

func ExampleManager_Lease() {
	ctx := application()
	cache := xcache.MustGetManager(ctx)

	lease, err := cache.Lease(ctx, "nightly-report", 30*time.Second)
	if err != nil {
		fmt.Println(err) // xlease.ErrHeld: another replica holds the lease
		return
	}
	defer lease.Release(ctx) //nolint:errcheck // the lease expires without Release
	fmt.Println(lease.Name(), lease.Err())
	// Output: nightly-report <nil>
}

func ExampleHashCache_Set() {
	ctx := application()
	stock := xcache.HashCacheOf[string, string, int, struct{}](xcache.MustGetManager(ctx),
		xcache.WithViewTTL(time.Hour))

	apples, pears := 3, 5
	_ = stock.Set(ctx, "shop", "apples", &apples)
	_ = stock.Set(ctx, "shop", "pears", &pears, xcache.WithNX()) // the field does not exist yet
	all, err := stock.GetAll(ctx, "shop")
	fmt.Println(all["apples"], all["pears"], err)

	removed, _ := stock.Remove(ctx, "shop", "apples", "plums")
	_, found, err := stock.Get(ctx, "shop", "apples")
	fmt.Println(removed, found, err)
	// Output:
	// 3 5 <nil>
	// 1 false <nil>
}

func ExampleSetCache_Add() {
	ctx := application()
	online := xcache.SetCacheOf[string, int64](xcache.MustGetManager(ctx),
		xcache.WithViewTTL(time.Hour))

	added, _ := online.Add(ctx, "room", []int64{7, 8, 7})
	in, _ := online.IsMember(ctx, "room", 8)
	left, _ := online.Remove(ctx, "room", 7, 9)
	count, err := online.Count(ctx, "room")
	fmt.Println(added, in, left, count, err)
	// Output: 2 true 1 1 <nil>
}

func ExampleListCache_Append() {
	ctx := application()
	jobs := xcache.ListCacheOf[string, string](xcache.MustGetManager(ctx))

	_, _ = jobs.Append(ctx, "mail", []string{"a", "b", "c"})
	length, _ := jobs.Prepend(ctx, "mail", []string{"urgent"})
	first, found, err := jobs.Pop(ctx, "mail")
	fmt.Println(length, *first, found, err)
	// Output: 4 urgent true <nil>
}

func ExampleListCache_Range() {
	ctx := application()
	recent := xcache.ListCacheOf[int64, string](xcache.MustGetManager(ctx))
	_, _ = recent.Append(ctx, 7, []string{"a", "b", "a", "c", "a"})

	last, _ := recent.Range(ctx, 7, -2, -1)
	removed, _ := recent.Remove(ctx, 7, -2, "a") // the last two
	rest, err := recent.Range(ctx, 7, 0, -1)
	fmt.Println(last, removed, rest, err)
	// Output: [c a] 2 [a b c] <nil>
}

func ExampleWithMetrics() {
	ctx := application()
	count := func(_ context.Context, e xcache.Event) {
		// such as operations.WithLabelValues(e.View, e.Op, e.Outcome).Inc()
		fmt.Println(e.View, e.Op, e.Outcome)
	}
	cache, err := xcache.New(xcache.MustGetManager(ctx).Store(), xcache.WithMetrics(count))
	if err != nil {
		fmt.Println(err)
		return
	}
	users := xcache.KeyCacheOf[int64, User](cache, xcache.WithName("user"))
	_, _, _ = users.Get(ctx, 7)
	_ = users.Set(ctx, 7, &User{ID: 7})
	_, _, _ = users.Get(ctx, 7)
	// Output:
	// user get miss
	// user set done
	// user get hit
}
