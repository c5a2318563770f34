package xcache_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// newManager returns a manager with a MapStore.
func newManager(tb testing.TB, opts ...xcache.ManagerOption) *xcache.Manager {
	tb.Helper()
	return managerOf(tb, drivertest.NewMapStore(nil), opts...)
}

func managerOf(tb testing.TB, store driver.Store, opts ...xcache.ManagerOption) *xcache.Manager {
	tb.Helper()
	m, err := xcache.New(store, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestGetManager(t *testing.T) {
	m := newManager(t)
	ctx := context.WithValue(t.Context(), xctx.CacheManagerKey, m)
	if got, err := xcache.GetManager(ctx); got != m || err != nil {
		t.Errorf("GetManager = %v, %v; want the manager", got, err)
	}
	if xcache.MustGetManager(ctx) != m {
		t.Error("MustGetManager returned another manager")
	}
	for name, ctx := range map[string]context.Context{"without": t.Context(), "nil": nil} {
		got, err := xcache.GetManager(ctx)
		if got != nil || err == nil || err.GetErrorCode() != xerror.ConfigError {
			t.Errorf("%s: GetManager = %v, %v; want a ConfigError", name, got, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustGetManager without a cache did not panic")
		}
	}()
	xcache.MustGetManager(t.Context())
}

func TestNew_Options(t *testing.T) {
	if _, err := xcache.New(nil); err == nil {
		t.Error("New accepted a nil store")
	}
	if _, err := xcache.New(drivertest.NewMapStore(nil), xcache.WithTTLJitter(-1),
		xcache.WithDefaultTTL(-1)); err == nil {
		t.Error("New accepted a negative jitter and TTL")
	}
}

// failing is a store whose Get and Set fail.
type failing struct {
	*drivertest.MapStore
	err error
}

func (s failing) Get(context.Context, string) ([]byte, bool, error) { return nil, false, s.err }

func (s failing) Set(context.Context, string, []byte, driver.Write) (bool, error) {
	return false, s.err
}

func TestError(t *testing.T) {
	down := errors.New("connection reset")
	c := xcache.KeyCacheOf[string, int](managerOf(t, failing{drivertest.NewMapStore(nil), down}))
	_, _, err := c.Get(t.Context(), "session:secret")
	var e *xcache.Error
	if !errors.As(err, &e) || e.Op != "get" || !errors.Is(err, down) {
		t.Errorf("Get = %v, want an *Error of get that wraps the backend's error", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error %q contains the key", err)
	}
	if code := xerror.From(err).GetErrorCode(); code != xerror.CacheError {
		t.Errorf("code = %v, want CacheError", code)
	}
	timeout := fmt.Errorf("read tcp: %w", context.DeadlineExceeded)
	c = xcache.KeyCacheOf[string, int](managerOf(t, failing{drivertest.NewMapStore(nil), timeout}))
	_, _, err = c.Get(t.Context(), "k")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get = %v, want the context's error in it", err)
	}
	if code := xerror.From(err).GetErrorCode(); code == xerror.CacheError {
		t.Error("a context error became a CacheError")
	}
}

func TestWithFailOpen(t *testing.T) {
	down := errors.New("connection reset")
	load := func(context.Context) (*int, error) { return new(7), nil }

	m := managerOf(t, failing{drivertest.NewMapStore(nil), down})
	strict := xcache.KeyCacheOf[string, int](m)
	if _, _, err := strict.GetOrLoad(t.Context(), "k", load); !errors.Is(err, down) {
		t.Errorf("GetOrLoad = %v, want the backend's error", err)
	}
	var events recorder
	m = managerOf(t, failing{drivertest.NewMapStore(nil), down}, xcache.WithFailOpen(),
		xcache.WithMetrics(events.Observe))
	open := xcache.KeyCacheOf[string, int](m)
	got, ok, err := open.GetOrLoad(t.Context(), "k", load)
	if err != nil || !ok || *got != 7 {
		t.Errorf("GetOrLoad = %v, %t, %v; want the loaded value", got, ok, err)
	}
	if n := events.count("failed"); n < 2 {
		t.Errorf("%d failures in the metrics, want the read and the write", n)
	}
	if _, _, err := open.Get(t.Context(), "k"); !errors.Is(err, down) {
		t.Errorf("Get = %v, want the backend's error", err)
	}
	broken := errors.New("no rows")
	_, _, err = open.GetOrLoad(t.Context(), "k",
		func(context.Context) (*int, error) { return nil, broken })
	if err != broken { //nolint:errorlint // the error must not be wrapped
		t.Errorf("GetOrLoad = %v, want the loader's own error", err)
	}
}

// recorder collects events.
type recorder struct {
	mu     sync.Mutex
	events []xcache.Event
}

func (r *recorder) Observe(_ context.Context, e xcache.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) count(o string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Outcome == o {
			n++
		}
	}
	return n
}

func TestWithMetrics_ViewName(t *testing.T) {
	var events recorder
	m := newManager(t, xcache.WithMetrics(events.Observe))
	c := xcache.KeyCacheOf[string, int](m, xcache.WithName("numbers"))
	ctx := t.Context()
	_, _, _ = c.Get(ctx, "k")
	_ = c.Set(ctx, "k", new(1))
	_ = c.Set(ctx, "k", new(1), xcache.WithNX())
	_, _, _ = c.Get(ctx, "k")
	_, _, _ = c.GetOrLoad(ctx, "new", func(context.Context) (*int, error) { return new(2), nil })
	_, _, _ = c.GetOrLoad(ctx, "none", func(context.Context) (*int, error) { return nil, nil })
	_, _, _ = c.GetOrLoad(ctx, "bad",
		func(context.Context) (*int, error) { return nil, errors.New("x") })
	_ = c.Delete(ctx, "k")
	_ = c.Set(ctx, "k", nil)
	_, _ = xcache.ListCacheOf[string, int](m, xcache.WithName("list")).Range(ctx, "l", 0, -1)

	var got []string
	for _, e := range events.events {
		if e.Latency < 0 || (e.Err != nil) != (e.Outcome == "failed") {
			t.Errorf("event %+v has no latency, or its error does not match its outcome", e)
		}
		got = append(got, fmt.Sprint(e.View, " ", e.Op, " ", e.Outcome))
	}
	want := []string{
		"numbers get miss", "numbers set done", "numbers set skipped", "numbers get hit",
		"numbers get miss", "numbers load hit", "numbers get miss", "numbers load miss",
		"numbers get miss", "numbers load failed", "numbers delete done", "numbers set failed",
		"list read miss",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events = %q,\nwant %q", got, want)
	}
}

// batchCounter counts the round trips of batches.
type batchCounter struct {
	*drivertest.MapStore
	trips *int
}

func (s batchCounter) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	*s.trips++
	return s.MapStore.GetMany(ctx, keys)
}

func (s batchCounter) SetMany(ctx context.Context, items []driver.Item) error {
	*s.trips++
	return s.MapStore.SetMany(ctx, items)
}

func (s batchCounter) Delete(ctx context.Context, keys ...string) (int, error) {
	*s.trips++
	return s.MapStore.Delete(ctx, keys...)
}

// unbatched hides all optional interfaces of a store.
type unbatched struct{ driver.Store }

func TestKeyCache_GetMany(t *testing.T) {
	t.Run("uses one round trip if the store supports batches", func(t *testing.T) {
		trips := 0
		m := managerOf(t, batchCounter{drivertest.NewMapStore(nil), &trips})
		c := xcache.KeyCacheOf[int, string](m)
		many := map[int]string{1: "a", 2: "b", 3: "c"}
		if err := c.SetMany(t.Context(), many); err != nil {
			t.Fatal(err)
		}
		got, err := c.GetMany(t.Context(), []int{1, 2, 3, 4})
		if err != nil || !maps.Equal(got, many) {
			t.Errorf("GetMany = %v, %v; want %v", got, err, many)
		}
		if n, err := c.DeleteMany(t.Context(), []int{1, 2, 3, 4}); n != 3 || err != nil {
			t.Errorf("DeleteMany = %d, %v; want 3", n, err)
		}
		if trips != 3 {
			t.Errorf("%d round trips, want 3", trips)
		}
	})

	t.Run("works with a store without batches", func(t *testing.T) {
		c := xcache.KeyCacheOf[int, string](managerOf(t, unbatched{drivertest.NewMapStore(nil)}))
		many := map[int]string{1: "a", 2: "b", 3: "c"}
		if err := c.SetMany(t.Context(), many); err != nil {
			t.Fatal(err)
		}
		got, err := c.GetMany(t.Context(), []int{1, 2, 3, 4})
		if err != nil || !maps.Equal(got, many) {
			t.Errorf("GetMany = %v, %v; want %v", got, err, many)
		}
	})
}

func TestKeyCacheOf_Panics(t *testing.T) {
	type pair struct{ A, B int }
	type twice struct {
		A int `cache:"x"`
		B int `json:"x"`
	}
	m := newManager(t)
	for name, open := range map[string]func(){
		"nil manager":               func() { xcache.KeyCacheOf[string, int](nil) },
		"key without a string form": func() { xcache.KeyCacheOf[pair, int](m) },
		"float key":                 func() { xcache.SetCacheOf[float64, int](m) },
		"field without a string form": func() {
			xcache.HashCacheOf[string, pair, int, struct{}](m)
		},
		"field with MarshalText only": func() {
			xcache.HashCacheOf[string, writeOnly, int, struct{}](m)
		},
		"field with UnmarshalText only": func() {
			xcache.HashCacheOf[string, readOnly, int, struct{}](m)
		},
		"field with AppendText only": func() {
			xcache.HashCacheOf[string, appendOnly, int, struct{}](m)
		},
		"not a struct":         func() { xcache.HashCacheOf[string, string, int, int](m) },
		"duplicate field name": func() { xcache.HashCacheOf[string, string, int, twice](m) },
		"negative TTL": func() {
			xcache.KeyCacheOf[string, int](m, xcache.WithViewTTL(-1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "xcache: ") {
					t.Errorf("panic = %v, want a string with the prefix xcache:", p)
				}
			}()
			open()
		})
	}
}

// writeOnly implements MarshalText only.
type writeOnly string

func (writeOnly) MarshalText() ([]byte, error) { return []byte("w"), nil }

// readOnly implements UnmarshalText only.
type readOnly string

func (*readOnly) UnmarshalText([]byte) error { return nil }

// appendOnly implements AppendText only.
type appendOnly struct{}

func (appendOnly) AppendText(dst []byte) ([]byte, error) { return dst, nil }

// ttlRecorder records the TTLs of writes.
type ttlRecorder struct {
	driver.Store

	ttls []time.Duration
}

func (r *ttlRecorder) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (bool, error) {
	r.ttls = append(r.ttls, w.TTL)
	return r.Store.Set(ctx, key, value, w)
}

func TestKeyCache_Set_TTL(t *testing.T) {
	store := &ttlRecorder{Store: drivertest.NewMapStore(nil)}
	c := xcache.KeyCacheOf[string, int](managerOf(t, store))
	for _, ttl := range []time.Duration{1, time.Millisecond, time.Millisecond + 1, math.MaxInt64} {
		if err := c.Set(t.Context(), "k", new(1), xcache.WithTTL(ttl)); err != nil {
			t.Fatal(err)
		}
	}
	longest := time.Duration(math.MaxInt64).Truncate(time.Millisecond)
	want := []time.Duration{time.Millisecond, time.Millisecond, 2 * time.Millisecond, longest}
	if !slices.Equal(store.ttls, want) {
		t.Errorf("TTLs = %v, want %v", store.ttls, want)
	}
}

func TestKeyCacheOf_NilOption(t *testing.T) {
	m := newManager(t, xcache.WithPrefix("app:"))
	c := xcache.KeyCacheOf[string, int](m, nil, xcache.WithKeyPrefix("n:"))
	check(t, c.Set(t.Context(), "k", new(1)))
	if got, errs := collect(keysOf(t, m, "n:")); !slices.Equal(got, []string{"k"}) || errs != nil {
		t.Errorf("Keys = %q, %v; want k", got, errs)
	}
}
