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
	{"Load/CachesTheValue", testLoadOnce},
	{"Load/SingleFlight", testLoadThousand},
	{"Load/Error", testLoadError},
	{"Load/Panic", testLoadPanic},
	{"Load/Goexit", testLoadGoexit},
	{"Load/CanceledCaller", testLoadCanceled},
	{"Load/Deadline", testLoadDeadline},
	{"Load/Abandoned", testLoadAbandoned},
	{"Load/NegativeTTL", testLoadNegative},
	{"Load/ConcurrentWrite", testLoadConcurrentWrite},
	{"Load/ValuesAreCopied", testLoadCopies},
}

var errLoad = errors.New("source unavailable")

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
	e.advance(5 * e.unit)
	got := present[user](t)(users.GetOrLoad(t.Context(), "k", load))
	want(t, "ID after expiry", got.ID, 2)
	must(t, users.Delete(t.Context(), "k"))
	got = present[user](t)(users.GetOrLoad(t.Context(), "k", load))
	want(t, "ID after Delete", got.ID, 3)
}

// together calls f in n goroutines and waits for them.
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
	var failed atomic.Int32
	together(callers, func(int) {
		// Each caller creates a view, like a handler that creates a view per request.
		got, ok, err := e.items().GetOrLoad(t.Context(), "k", func(context.Context) (*item, error) {
			loads.Add(1)
			return &item{Name: "loaded", Tags: []string{"t"}}, nil
		})
		if err != nil || !ok || got.Name != "loaded" || len(got.Tags) != 1 {
			failed.Add(1)
		}
	})
	want(t, "loads", loads.Load(), 1)
	want(t, "callers without the value", failed.Load(), 0)
}

// loader is the type of the loader of GetOrLoad.
type loader = func(ctx context.Context) (*user, error)

// startCallers starts n callers of one load. The loader runs when all callers wait. The
// order of the errors is undefined.
func (e *env) startCallers(n int, call func(load loader) error, load loader) <-chan error {
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

// awaitWaiting blocks until n callers wait for loads.
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
	errs := e.startCallers(10, call,
		func(context.Context) (*user, error) { return &user{}, errLoad })
	for range 10 {
		if err := <-errs; !errors.Is(err, errLoad) {
			t.Errorf("GetOrLoad = %v, want the loader's error", err)
		}
	}
	wantMissing(t, e.users(), "k")
	got, ok, err := e.users().GetOrLoad(t.Context(), "k",
		func(context.Context) (*user, error) { return &user{ID: 1}, nil })
	must(t, err)
	if !ok || got.ID != 1 {
		t.Errorf("GetOrLoad after an error = %v, %t; want a new load", got, ok)
	}
	wantValue(t, e.users(), "k", user{ID: 1})
}

func testLoadPanic(t *testing.T, e *env) {
	call := func(load loader) error {
		_, _, err := e.users().GetOrLoad(t.Context(), "k", load)
		return err
	}
	var loads atomic.Int32
	errs := e.startCallers(10, call, func(context.Context) (*user, error) {
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
	wantMissing(t, e.users(), "k")
	e.wantNewLoad(t)
}

// wantNewLoad fails the test unless the key is loaded again after a failed load.
func (e *env) wantNewLoad(t *testing.T) {
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
	errs := e.startCallers(10, call, func(context.Context) (*user, error) {
		runtime.Goexit()
		return nil, nil
	})
	for range 10 {
		var p *xhook.PanicError
		if err := <-errs; !errors.As(err, &p) || p.Value != nil {
			t.Errorf("GetOrLoad = %v, want a PanicError without a value", err)
		}
	}
	wantMissing(t, e.users(), "k")
	e.wantNewLoad(t)
}

// testLoadDeadline runs a loader longer than the deadline of its callers.
func testLoadDeadline(t *testing.T, e *env) {
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, ok, err := e.users().GetOrLoad(ctx, "k", func(ctx context.Context) (*user, error) {
		if _, limited := ctx.Deadline(); limited {
			return nil, errors.New("the loader has the deadline of a caller")
		}
		<-ctx.Done() // because no caller waits
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	if ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("GetOrLoad = %t, %v; want the context error", ok, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("context error of the loader = %v, want Canceled", err)
	}
	e.wantNewLoad(t)
}

func testLoadCanceled(t *testing.T, e *env) {
	users := e.users()
	started, release := make(chan struct{}), make(chan struct{})
	first, cancel := context.WithCancel(t.Context())
	canceled, waiting := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := users.GetOrLoad(first, "k", func(ctx context.Context) (*user, error) {
			close(started)
			<-release
			return &user{ID: 1}, ctx.Err()
		})
		canceled <- err
	}()
	<-started
	go func() {
		got, ok, err := users.GetOrLoad(t.Context(), "k", func(context.Context) (*user, error) {
			return nil, errors.New("second load")
		})
		if err == nil && (!ok || got.ID != 1) {
			err = errors.New("not the value of the first load")
		}
		waiting <- err
	}()
	e.awaitWaiting(2)
	cancel()
	if err := <-canceled; !errors.Is(err, context.Canceled) {
		t.Errorf("GetOrLoad of the canceled caller = %v, want the context error", err)
	}
	close(release)
	must(t, <-waiting)
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
		t.Errorf("GetOrLoad = %v, want the context error", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("context error of the loader = %v, want Canceled", err)
	}
	wantMissing(t, e.users(), "k")
	e.wantNewLoad(t)
}

func testLoadNegative(t *testing.T, e *env) {
	loads := 0
	nothing := func(context.Context) (*user, error) { //nolint:unparam // no value
		loads++
		return nil, nil
	}
	for range 2 {
		got, ok, err := e.users().GetOrLoad(t.Context(), "k", nothing)
		must(t, err)
		if got != nil || ok {
			t.Errorf("GetOrLoad without a value = %v, %t; want nil, false", got, ok)
		}
	}
	want(t, "loads without negative caching", loads, 2)
	c := xcache.KeyCacheOf[string, user](e.m, xcache.WithNegativeTTL(4*e.unit))
	wantLoads := func(expected int, when string) {
		t.Helper()
		_, ok, err := c.GetOrLoad(t.Context(), "k", nothing)
		must(t, err)
		want(t, "found "+when, ok, false)
		want(t, "loads "+when, loads, expected)
	}
	wantLoads(3, "at first")
	wantLoads(3, "with an absence mark")
	ok, err := c.Exists(t.Context(), "k")
	must(t, err)
	want(t, "exists with an absence mark", ok, false)
	n, err := c.DeleteMany(t.Context(), []string{"k"})
	must(t, err)
	want(t, "removed with an absence mark", n, 0)
	wantLoads(4, "after DeleteMany")
	must(t, c.Delete(t.Context(), "k"))
	wantLoads(5, "after Delete")
	e.advance(5 * e.unit)
	wantLoads(6, "after the mark expired")
	stored := false
	must(t, c.Set(t.Context(), "k", &user{ID: 1}, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored with an absence mark", stored, true)
	got, ok, err := c.GetOrLoad(t.Context(), "k", nothing)
	must(t, err)
	if !ok || got.ID != 1 {
		t.Errorf("GetOrLoad after Set = %v, %t; want the stored value", got, ok)
	}
}

func testLoadConcurrentWrite(t *testing.T, e *env) {
	users := e.users()
	for name, write := range map[string]func(key string) error{
		"Set":    func(key string) error { return users.Set(t.Context(), key, &user{ID: 2}) },
		"Delete": func(key string) error { return users.Delete(t.Context(), key) },
	} {
		got, ok, err := users.GetOrLoad(t.Context(), name, func(context.Context) (*user, error) {
			return &user{ID: 1}, write(name)
		})
		must(t, err)
		if !ok || got.ID != 1 {
			t.Errorf("%s: GetOrLoad = %v, %t; want the loaded value", name, got, ok)
		}
	}
	wantValue(t, users, "Set", user{ID: 2})
	wantMissing(t, users, "Delete")
}

func testLoadCopies(t *testing.T, e *env) {
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
			t.Fatalf("value = %+v, want changes of this caller only", v)
		}
	}
	v, ok, err := e.items().Get(t.Context(), "k")
	must(t, err)
	if !ok || v.Tags[0] != "a" {
		t.Errorf("Get = %+v, %t; want the loaded value", v, ok)
	}
}
