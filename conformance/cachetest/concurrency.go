package cachetest

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// concurrencyChecks are most useful with the race detector.
var concurrencyChecks = []check{
	{"Concurrency/NX", testConcurrentNX},
	{"Concurrency/Updates", testConcurrentUpdates},
	{"Concurrency/KeepTTLAndSlide", testConcurrentTTL},
	{"Concurrency/TTLOfNewKey", testConcurrentCreate},
	{"Concurrency/Pop", testConcurrentPop},
	{"Concurrency/Overwrite", testConcurrentOverwrite},
	{"Concurrency/HashUpdates", testConcurrentHash},
	{"Concurrency/ReadersAndWriters", testConcurrentAll},
}

const callers = 16

// firstError stores the first error of concurrent goroutines.
type firstError struct{ err atomic.Pointer[error] }

func (e *firstError) add(err error) {
	if err != nil {
		e.err.CompareAndSwap(nil, &err)
	}
}

func (e *firstError) must(t *testing.T) {
	t.Helper()
	if p := e.err.Load(); p != nil {
		t.Fatal(*p)
	}
}

func testConcurrentNX(t *testing.T, e *env) {
	var errs firstError
	for round := range 5 {
		var stored [4]atomic.Int32
		key := fmt.Sprint("k", round)
		together(100, func(i int) {
			var ok [4]bool
			nx := func(n int) []xcache.Option {
				return []xcache.Option{
					xcache.WithNX(), xcache.WithTTL(100 * e.unit),
					xcache.WithStored(&ok[n]),
				}
			}
			errs.add(e.users().Set(t.Context(), key, &user{ID: int64(i)}, nx(0)...))
			errs.add(e.counts().SetAll(t.Context(), key+"h",
				map[string]int{"a": i, "b": i}, nx(1)...))
			_, err := e.words().Add(t.Context(), key+"s", []string{fmt.Sprint(i)}, nx(2)...)
			errs.add(err)
			_, err = e.letters().Append(t.Context(), key+"l", []string{fmt.Sprint(i)}, nx(3)...)
			errs.add(err)
			for n := range ok {
				if ok[n] {
					stored[n].Add(1)
				}
			}
		})
		errs.must(t)
		for n, view := range []string{"value", "hash", "set", "list"} {
			want(t, "effective "+view+" writes", stored[n].Load(), 1)
		}
		for _, k := range []string{"", "h", "s", "l"} {
			wantTTL(t, e.users(), key+k, 90*e.unit, 100*e.unit)
		}
	}
}

func testConcurrentUpdates(t *testing.T, e *env) {
	var errs firstError
	together(callers, func(i int) {
		for j := range 20 {
			name := fmt.Sprintf("%d-%d", i, j)
			errs.add(e.counts().Set(t.Context(), "h", name, &j))
			_, err := e.words().Add(t.Context(), "s", []string{name})
			errs.add(err)
			_, err = e.letters().Append(t.Context(), "l", []string{name})
			errs.add(err)
		}
	})
	errs.must(t)
	all, err := e.counts().GetAll(t.Context(), "h")
	must(t, err)
	want(t, "fields", len(all), callers*20)
	n, err := e.words().Count(t.Context(), "s")
	must(t, err)
	want(t, "members", n, callers*20)
	n, err = e.letters().Len(t.Context(), "l")
	must(t, err)
	want(t, "elements", n, callers*20)
}

// testConcurrentTTL checks that writes with KeepTTL do not change the TTL, and that
// sliding writes set one of their TTLs.
func testConcurrentTTL(t *testing.T, e *env) {
	var errs firstError
	for name, update := range e.updates() {
		update(t, "keep "+name, xcache.WithTTL(100*e.unit))
		update(t, "slide "+name, xcache.WithTTL(100*e.unit))
	}
	together(callers, func(i int) {
		for range 10 {
			keep := []xcache.Option{xcache.WithNoSlide(), xcache.WithTTL(500 * e.unit)}
			slide := []xcache.Option{xcache.WithTTL(200 * e.unit)}
			for kind, opts := range map[string][]xcache.Option{"keep": keep, "slide": slide} {
				errs.add(e.counts().Set(t.Context(), kind+" HashSet",
					fmt.Sprint(i), new(1), opts...))
				_, err := e.words().Add(t.Context(), kind+" SetAdd",
					[]string{fmt.Sprint(i)}, opts...)
				errs.add(err)
				_, err = e.letters().Append(t.Context(), kind+" ListAppend", []string{"x"}, opts...)
				errs.add(err)
			}
		}
	})
	errs.must(t)
	for _, name := range []string{"HashSet", "SetAdd", "ListAppend"} {
		wantTTL(t, e.users(), "keep "+name, 80*e.unit, 100*e.unit)
		wantTTL(t, e.users(), "slide "+name, 180*e.unit, 200*e.unit)
	}
	all, err := e.counts().GetAll(t.Context(), "keep HashSet")
	must(t, err)
	want(t, "fields", len(all), callers+1)
	n, err := e.letters().Len(t.Context(), "keep ListAppend")
	must(t, err)
	want(t, "elements", n, callers*10+1)
}

// testConcurrentCreate checks that a key is never visible without its TTL while it is
// created. A client that crashes between two commands would leave such a key.
func testConcurrentCreate(t *testing.T, e *env) {
	var errs firstError
	var withoutTTL, seen atomic.Int32
	writes := []func(key string) error{
		func(key string) error {
			return e.users().Set(t.Context(), key, &user{}, xcache.WithKeepTTL(),
				xcache.WithTTL(100*e.unit))
		},
		func(key string) error {
			return e.counts().Set(t.Context(), key, "f", new(1), xcache.WithTTL(100*e.unit))
		},
		func(key string) error {
			_, err := e.words().Add(t.Context(), key, []string{"a"}, xcache.WithNoSlide(),
				xcache.WithTTL(100*e.unit))
			return err
		},
		func(key string) error {
			_, err := e.letters().Append(t.Context(), key, []string{"a"}, xcache.WithNX(),
				xcache.WithTTL(100*e.unit))
			return err
		},
	}
	var writing atomic.Int32
	writing.Store(callers / 2)
	together(callers, func(i int) {
		if i%2 == 0 {
			defer writing.Add(-1)
			for round := range 100 {
				key := fmt.Sprint("k", round%len(writes))
				errs.add(writes[round%len(writes)](key))
				errs.add(e.users().Delete(t.Context(), key))
			}
			return
		}
		for round := 0; writing.Load() > 0; round++ {
			ttl, ok, err := e.users().TTL(t.Context(), fmt.Sprint("k", round%len(writes)))
			errs.add(err)
			if ok && ttl == 0 {
				withoutTTL.Add(1)
			}
			if ok {
				seen.Add(1)
			}
		}
	})
	errs.must(t)
	want(t, "reads of a key without a TTL", withoutTTL.Load(), 0)
	for i, write := range writes {
		key := fmt.Sprint("k", i)
		must(t, write(key))
		wantTTL(t, e.users(), key, 90*e.unit, 100*e.unit)
	}
	t.Logf("%d reads found a key", seen.Load())
}

func testConcurrentPop(t *testing.T, e *env) {
	c := xcache.ListCacheOf[string, int](e.m)
	values := make([]int, 200)
	for i := range values {
		values[i] = i
	}
	_, err := c.Append(t.Context(), "l", values)
	must(t, err)
	var errs firstError
	popped := make([]atomic.Int32, len(values))
	together(callers, func(i int) {
		for range values { // limited, because a broken backend may never become empty
			pop := c.Pop
			if i%2 == 1 {
				pop = c.PopLast
			}
			v, ok, err := pop(t.Context(), "l")
			errs.add(err)
			if !ok {
				return
			}
			popped[*v].Add(1)
		}
	})
	errs.must(t)
	for i := range popped {
		want(t, fmt.Sprintf("pops of %d", i), popped[i].Load(), 1)
	}
	wantMissing(t, c, "l")
}

func testConcurrentOverwrite(t *testing.T, e *env) {
	must(t, e.users().Set(t.Context(), "k", &user{ID: 1, Name: "1"}))
	var errs firstError
	var gaps, partial atomic.Int32
	together(callers, func(i int) {
		for j := range 100 {
			if i%4 == 0 {
				errs.add(e.users().Set(t.Context(), "k", &user{ID: int64(j), Name: fmt.Sprint(j)}))
				continue
			}
			got, ok, err := e.users().Get(t.Context(), "k")
			errs.add(err)
			if !ok {
				gaps.Add(1)
			} else if fmt.Sprint(got.ID) != got.Name {
				partial.Add(1)
			}
		}
	})
	errs.must(t)
	want(t, "reads without a value", gaps.Load(), 0)
	want(t, "reads of a partial value", partial.Load(), 0)
}

func testConcurrentHash(t *testing.T, e *env) {
	c := e.counts()
	must(t, c.SetAll(t.Context(), "h", map[string]int{"a": 0, "b": 0}))
	var errs firstError
	var partial atomic.Int32
	together(callers, func(i int) {
		for j := range 50 {
			if i%4 == 0 {
				errs.add(c.SetAll(t.Context(), "h", map[string]int{"a": j, "b": j}))
				continue
			}
			all, err := c.GetAll(t.Context(), "h")
			errs.add(err)
			if err == nil && (len(all) != 2 || all["a"] != all["b"]) {
				partial.Add(1)
			}
			maps.DeleteFunc(all, func(string, int) bool { return true }) // the map is a copy
		}
	})
	errs.must(t)
	want(t, "reads of a partial update", partial.Load(), 0)
}

// testConcurrentAll calls many methods on a few keys, to detect races and deadlocks.
func testConcurrentAll(t *testing.T, e *env) {
	// Errors are ignored because keys change their kind.
	calls := []func(ctx context.Context, key string){
		func(ctx context.Context, key string) {
			_ = e.users().Set(ctx, key, &user{ID: 1}, xcache.WithTTL(e.unit))
		},
		func(ctx context.Context, key string) { _ = e.users().Delete(ctx, key) },
		func(ctx context.Context, key string) {
			_ = e.counts().Set(ctx, key, "f", new(1), xcache.WithNoSlide(), xcache.WithTTL(e.unit))
		},
		func(ctx context.Context, key string) { _, _ = e.counts().Remove(ctx, key, "f") },
		func(ctx context.Context, key string) { _, _ = e.words().Add(ctx, key, []string{"a"}) },
		func(ctx context.Context, key string) {
			_, _ = e.letters().Prepend(ctx, key, []string{"a", "b"})
		},
		func(ctx context.Context, key string) { _, _ = e.letters().Remove(ctx, key, -1, "a") },
		func(ctx context.Context, key string) { _, _ = e.counts().GetAll(ctx, key) },
		func(ctx context.Context, key string) { _, _ = e.words().Members(ctx, key) },
		func(ctx context.Context, key string) { _, _ = e.letters().Range(ctx, key, 0, -1) },
		func(ctx context.Context, key string) { _, _, _ = e.users().Get(ctx, key) },
		func(ctx context.Context, key string) { _, _, _ = e.users().TTL(ctx, key) },
	}
	together(callers, func(i int) {
		for j := range 60 {
			calls[(i+j)%len(calls)](t.Context(), fmt.Sprint("k", (i+j)%5))
		}
	})
	for i := range 5 {
		key := fmt.Sprint("k", i)
		must(t, e.users().Delete(t.Context(), key))
		fill(t, e.m, key, list)
		want(t, "content", content(t, e.m, key, list), contents[list])
	}
	must(t, e.m.CheckHealth(t.Context()))
}
