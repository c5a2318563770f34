package cachetest

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	xCache "github.com/plinthgo/plinth/core/major/xcache"
)

// These checks mean most under the race detector.
var concurrencyChecks = []check{
	{"Concurrency/OneNXOfManyTakesEffect", testConcurrentNX},
	{"Concurrency/NoUpdateIsLost", testConcurrentUpdates},
	{"Concurrency/EachElementIsPoppedOnce", testConcurrentPop},
	{"Concurrency/AnOverwriteNeverShowsAGap", testConcurrentOverwrite},
	{"Concurrency/HashesAreReadWhole", testConcurrentHash},
	{"Concurrency/ReadersAndWriters", testConcurrentAll},
}

const callers = 16

// errorOf keeps the first error of many goroutines.
type errorOf struct{ first atomic.Pointer[error] }

func (e *errorOf) add(err error) {
	if err != nil {
		e.first.CompareAndSwap(nil, &err)
	}
}

func (e *errorOf) must(t *testing.T) {
	t.Helper()
	if p := e.first.Load(); p != nil {
		t.Fatal(*p)
	}
}

func testConcurrentNX(t *testing.T, e *env) {
	var errs errorOf
	for round := range 20 {
		var stored atomic.Int32
		key := fmt.Sprint("k", round)
		together(callers, func(i int) {
			ok := false
			errs.add(e.users().Set(t.Context(), key, &user{ID: int64(i)}, xCache.WithNX(), xCache.WithStored(&ok)))
			if ok {
				stored.Add(1)
			}
		})
		errs.must(t)
		want(t, "writes that took effect", stored.Load(), 1)
	}
}

func testConcurrentUpdates(t *testing.T, e *env) {
	var errs errorOf
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

func testConcurrentPop(t *testing.T, e *env) {
	c := xCache.ListCacheOf[string, int](e.m)
	values := make([]int, 200)
	for i := range values {
		values[i] = i
	}
	_, err := c.Append(t.Context(), "l", values)
	must(t, err)
	var errs errorOf
	popped := make([]atomic.Int32, len(values))
	together(callers, func(i int) {
		for range values { // not for ever: a backend that gives elements twice may never run out
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
	wantGone(t, c, "l")
}

func testConcurrentOverwrite(t *testing.T, e *env) {
	must(t, e.users().Set(t.Context(), "k", &user{ID: 1, Name: "1"}))
	var errs errorOf
	var gaps, torn atomic.Int32
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
				torn.Add(1)
			}
		}
	})
	errs.must(t)
	want(t, "reads that found nothing", gaps.Load(), 0)
	want(t, "reads of half a value", torn.Load(), 0)
}

func testConcurrentHash(t *testing.T, e *env) {
	c := e.counts()
	must(t, c.SetAll(t.Context(), "h", map[string]int{"a": 0, "b": 0}))
	var errs errorOf
	var torn atomic.Int32
	together(callers, func(i int) {
		for j := range 50 {
			if i%4 == 0 {
				errs.add(c.SetAll(t.Context(), "h", map[string]int{"a": j, "b": j}))
				continue
			}
			all, err := c.GetAll(t.Context(), "h")
			errs.add(err)
			if err == nil && all["a"] != all["b"] {
				torn.Add(1)
			}
			maps.DeleteFunc(all, func(string, int) bool { return true }) // it is the caller's own
		}
	})
	errs.must(t)
	want(t, "reads of half an update", torn.Load(), 0)
}

// testConcurrentAll lets everything meet on few keys. It proves the absence of races and deadlocks.
func testConcurrentAll(t *testing.T, e *env) {
	ignore := func(any, error) {} // some keys hold another kind just now
	together(callers, func(i int) {
		for j := range 60 {
			key := fmt.Sprint("k", (i+j)%5)
			switch (i + j) % 12 {
			case 0:
				ignore(nil, e.users().Set(t.Context(), key, &user{ID: 1}, xCache.WithTTL(e.unit)))
			case 1:
				ignore(nil, e.users().Delete(t.Context(), key))
			case 2:
				ignore(nil, e.counts().Set(t.Context(), key, "f", &j, xCache.WithNoSlide(), xCache.WithTTL(e.unit)))
			case 3:
				ignore(e.counts().Remove(t.Context(), key, "f"))
			case 4:
				ignore(e.words().Add(t.Context(), key, []string{"a"}))
			case 5:
				ignore(e.letters().Prepend(t.Context(), key, []string{"a", "b"}))
			case 6:
				ignore(e.letters().Remove(t.Context(), key, -1, "a"))
			case 7:
				ignore(e.counts().GetAll(t.Context(), key))
			case 8:
				ignore(e.words().Members(t.Context(), key))
			case 9:
				ignore(e.letters().Range(t.Context(), key, 0, -1))
			case 10:
				_, _, err := e.users().Get(t.Context(), key)
				ignore(nil, err)
			default:
				_, _, err := e.users().TTL(t.Context(), key)
				ignore(nil, err)
			}
		}
	})
	for i := range 5 {
		must(t, e.users().Delete(t.Context(), fmt.Sprint("k", i)))
	}
	must(t, e.m.CheckHealth(t.Context()))
}
