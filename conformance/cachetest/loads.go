package cachetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xhook"
)

var loadChecks = []check{
	{"Load/OnceAndThenFromTheCache", testLoadOnce},
	{"Load/AThousandMissesAreOneLoad", testLoadThousand},
	{"Load/ErrorsReachAllWhoWait", testLoadError},
	{"Load/APanicReachesAllWhoWait", testLoadPanic},
	{"Load/ALoaderThatEndsItsGoroutineEndsNobodyElse", testLoadGoexit},
	{"Load/ACancelledCallerCancelsNobodyElse", testLoadCancelled},
	{"Load/ADeadlineEndsTheWait", testLoadDeadline},
	{"Load/NobodyWaitsNobodyLoads", testLoadAbandoned},
	{"Load/AbsenceIsRememberedWhereAsked", testLoadNegative},
	{"Load/AWriteDuringTheLoadWins", testLoadOvertaken},
	{"Load/EachGetsAValueOfItsOwn", testLoadOwn},
}

var errLoad = errors.New("the source is down")

func testLoadOnce(t *testing.T, e *env) {
	users := e.users()
	loads := 0
	load := func(context.Context) (*user, error) {
		loads++
		return &user{ID: int64(loads)}, nil
	}
	for range 3 {
		got, ok, err := users.GetOrLoad(t.Context(), "k", load, xcache.WithTTL(4*e.unit))
		must(t, err)
		if !ok || got.ID != 1 {
			t.Fatalf("GetOrLoad = %v, %t; want the first load's value", got, ok)
		}
	}
	wantTTL(t, users, "k", 2*e.unit, 4*e.unit)
	e.pass(5 * e.unit)
	got := present[user](t)(users.GetOrLoad(t.Context(), "k", load))
	want(t, "ID after the end", got.ID, 2)
	must(t, users.Delete(t.Context(), "k"))
	got = present[user](t)(users.GetOrLoad(t.Context(), "k", load))
	want(t, "ID after Delete", got.ID, 3)
}

// together calls f from n goroutines, and returns when all have.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func testLoadThousand(t *testing.T, e *env) {
	const callers = 1000
	var loads atomic.Int32
	var bad atomic.Int32
	together(callers, func(int) {
		// a view of its own for each, as in handlers that make one for a request
		got, ok, err := e.items().GetOrLoad(t.Context(), "k", func(context.Context) (*item, error) {
			loads.Add(1)
			return &item{Name: "loaded", Tags: []string{"t"}}, nil
		})
		if err != nil || !ok || got.Name != "loaded" || len(got.Tags) != 1 {
			bad.Add(1)
		}
	})
	want(t, "loads", loads.Load(), 1)
	want(t, "callers without the value", bad.Load(), 0)
}

// loader is the function that GetOrLoad calls.
type loader = func(ctx context.Context) (*user, error)

// waiting starts n callers of one load, which begins to run when all of them wait for it.
// The errors come in any order.
func (e *env) waiting(n int, call func(load loader) error, load loader) <-chan error {
	errs := make(chan error, n)
	release := make(chan struct{})
	for range n {
		go func() {
			errs <- call(func(ctx context.Context) (*user, error) {
				<-release
				return load(ctx)
			})
		}()
	}
	e.awaitWaiting(n)
	close(release)
	return errs
}

// awaitWaiting returns when n callers wait for loads.
func (e *env) awaitWaiting(n int) {
	for e.m.Waiting() != n {
		runtime.Gosched()
	}
}

func testLoadError(t *testing.T, e *env) {
	call := func(load loader) error {
		_, ok, err := e.users().GetOrLoad(t.Context(), "k", load)
		if ok {
			return errors.New("found")
		}
		return err
	}
	errs := e.waiting(10, call, func(context.Context) (*user, error) { return &user{}, errLoad })
	for range 10 {
		if err := <-errs; !errors.Is(err, errLoad) {
			t.Errorf("GetOrLoad = %v, want the loader's error", err)
		}
	}
	wantGone(t, e.users(), "k")
	got, ok, err := e.users().GetOrLoad(t.Context(), "k",
		func(context.Context) (*user, error) { return &user{ID: 1}, nil })
	must(t, err)
	if !ok || got.ID != 1 {
		t.Errorf("GetOrLoad after a failure = %v, %t; want a new load", got, ok)
	}
	wantValue(t, e.users(), "k", user{ID: 1})
}

func testLoadPanic(t *testing.T, e *env) {
	call := func(load loader) error {
		_, _, err := e.users().GetOrLoad(t.Context(), "k", load)
		return err
	}
	var loads atomic.Int32
	errs := e.waiting(10, call, func(context.Context) (*user, error) {
		loads.Add(1)
		panic(errLoad)
	})
	for range 10 {
		err := <-errs
		var p *xhook.PanicError
		if !errors.As(err, &p) || !errors.Is(err, errLoad) || len(p.Stack) == 0 {
			t.Errorf("GetOrLoad = %v, want a PanicError with the value and a stack", err)
		}
	}
	want(t, "loads", loads.Load(), 1)
	wantGone(t, e.users(), "k")
	e.loadsAnew(t)
}

// loadsAnew fails the test where a key whose load has failed is not loaded again.
func (e *env) loadsAnew(t *testing.T) {
	t.Helper()
	got := present[user](t)(e.users().GetOrLoad(t.Context(), "k",
		func(context.Context) (*user, error) { return &user{ID: 7}, nil }))
	want(t, "ID of the next load", got.ID, 7)
	wantValue(t, e.users(), "k", user{ID: 7})
}

func testLoadGoexit(t *testing.T, e *env) {
	call := func(load loader) error {
		_, _, err := e.users().GetOrLoad(t.Context(), "k", load)
		return err
	}
	errs := e.waiting(10, call, func(context.Context) (*user, error) {
		runtime.Goexit()
		return nil, nil
	})
	for range 10 {
		var p *xhook.PanicError
		if err := <-errs; !errors.As(err, &p) || p.Value != nil {
			t.Errorf("GetOrLoad = %v, want a PanicError without a value", err)
		}
	}
	wantGone(t, e.users(), "k")
	e.loadsAnew(t)
}

// testLoadDeadline lets a loader take longer than its callers have time.
func testLoadDeadline(t *testing.T, e *env) {
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, ok, err := e.users().GetOrLoad(ctx, "k", func(ctx context.Context) (*user, error) {
		_, limited := ctx.Deadline()
		if limited {
			return nil, errors.New("the loader has the deadline of one caller")
		}
		<-ctx.Done() // since nobody waits any more
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	if ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("GetOrLoad = %t, %v; want the context's error", ok, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the loader's context ended with %v, want Canceled", err)
	}
	e.loadsAnew(t)
}

func testLoadCancelled(t *testing.T, e *env) {
	users := e.users()
	started, release := make(chan struct{}), make(chan struct{})
	first, cancel := context.WithCancel(t.Context())
	gone, stays := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := users.GetOrLoad(first, "k", func(ctx context.Context) (*user, error) {
			close(started)
			<-release
			return &user{ID: 1}, ctx.Err()
		})
		gone <- err
	}()
	<-started
	go func() {
		got, ok, err := users.GetOrLoad(t.Context(), "k", func(context.Context) (*user, error) {
			return nil, errors.New("a second load ran")
		})
		if err == nil && (!ok || got.ID != 1) {
			err = errors.New("the value is not the first load's")
		}
		stays <- err
	}()
	e.awaitWaiting(2)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that was cancelled got %v, want its context's error", err)
	}
	close(release)
	must(t, <-stays)
	wantValue(t, users, "k", user{ID: 1})
}

func testLoadAbandoned(t *testing.T, e *env) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	_, _, err := e.users().GetOrLoad(ctx, "k", func(ctx context.Context) (*user, error) {
		cancel()
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("GetOrLoad = %v, want the context's error", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the loader's context ended with %v, want Canceled", err)
	}
	wantGone(t, e.users(), "k")
	e.loadsAnew(t)
}

func testLoadNegative(t *testing.T, e *env) {
	loads := 0
	nothing := func(context.Context) (*user, error) { //nolint:unparam // a loader that finds nothing
		loads++
		return nil, nil
	}
	for range 2 {
		got, ok, err := e.users().GetOrLoad(t.Context(), "k", nothing)
		must(t, err)
		if got != nil || ok {
			t.Errorf("GetOrLoad of nothing = %v, %t; want nil, false", got, ok)
		}
	}
	want(t, "loads without negative caching", loads, 2)
	c := xcache.KeyCacheOf[string, user](e.m, xcache.WithNegativeTTL(4*e.unit))
	ask := func(expected int, when string) {
		t.Helper()
		_, ok, err := c.GetOrLoad(t.Context(), "k", nothing)
		must(t, err)
		want(t, "found "+when, ok, false)
		want(t, "loads "+when, loads, expected)
	}
	ask(3, "at first")
	ask(3, "while absence is remembered")
	ok, err := c.Exists(t.Context(), "k")
	must(t, err)
	want(t, "exists while absence is remembered", ok, false)
	n, err := c.DeleteMany(t.Context(), []string{"k"})
	must(t, err)
	want(t, "removed while absence is remembered", n, 0)
	ask(4, "after DeleteMany")
	must(t, c.Delete(t.Context(), "k"))
	ask(5, "after Delete")
	e.pass(5 * e.unit)
	ask(6, "after the memory's end")
	stored := false
	must(t, c.Set(t.Context(), "k", &user{ID: 1}, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored while absence is remembered", stored, true)
	got, ok, err := c.GetOrLoad(t.Context(), "k", nothing)
	must(t, err)
	if !ok || got.ID != 1 {
		t.Errorf("GetOrLoad after Set = %v, %t; want what was set", got, ok)
	}
}

func testLoadOvertaken(t *testing.T, e *env) {
	users := e.users()
	for name, overtake := range map[string]func(key string) error{
		"Set":    func(key string) error { return users.Set(t.Context(), key, &user{ID: 2}) },
		"Delete": func(key string) error { return users.Delete(t.Context(), key) },
	} {
		got, ok, err := users.GetOrLoad(t.Context(), name, func(context.Context) (*user, error) {
			return &user{ID: 1}, overtake(name)
		})
		must(t, err)
		if !ok || got.ID != 1 {
			t.Errorf("%s: GetOrLoad = %v, %t; want what was loaded", name, got, ok)
		}
	}
	wantValue(t, users, "Set", user{ID: 2})
	wantGone(t, users, "Delete")
}

func testLoadOwn(t *testing.T, e *env) {
	source := &item{Tags: []string{"a"}}
	got := make([]*item, 50)
	together(len(got), func(i int) {
		v, _, err := e.items().GetOrLoad(t.Context(), "k",
			func(context.Context) (*item, error) { return source, nil })
		if err == nil && v != nil {
			v.Tags[0] += "!"
		}
		got[i] = v
	})
	source.Tags[0] = "changed"
	for _, v := range got {
		if v == nil || v.Tags[0] != "a!" {
			t.Fatalf("a caller has %+v, want a value that only it changed", v)
		}
	}
	v, ok, err := e.items().Get(t.Context(), "k")
	must(t, err)
	if !ok || v.Tags[0] != "a" {
		t.Errorf("Get = %+v, %t; want what was loaded", v, ok)
	}
}
