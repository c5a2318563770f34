package xcache_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// collect returns the sorted keys and the errors of an iteration.
func collect[K interface{ ~string | ~int64 | ~int }](
	walk iter.Seq2[K, error],
) (keys []K, errs []error) {
	for key, err := range walk {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, errs
}

// keysOf iterates over the keys of m with prefix, without the prefix.
func keysOf(t *testing.T, m *xcache.Manager, prefix string) iter.Seq2[string, error] {
	t.Helper()
	return xcache.KeyCacheOf[string, int](m, xcache.WithKeyPrefix(prefix)).Keys(t.Context())
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func TestKeyCache_Keys(t *testing.T) {
	t.Run("returns each key once without the prefix", func(t *testing.T) {
		store := drivertest.NewMapStore(nil)
		m := managerOf(t, store, xcache.WithPrefix("app:"))
		numbers := xcache.KeyCacheOf[int, string](m, xcache.WithKeyPrefix("n:"))
		var want []int
		for i := range 1000 { // the pages of the store overlap
			check(t, numbers.Set(t.Context(), i, new("v")))
			want = append(want, i)
		}
		other := managerOf(t, store, xcache.WithPrefix("other:n:"))
		check(t, xcache.KeyCacheOf[string, string](other).Set(t.Context(), "x", new("v")))
		sets := xcache.SetCacheOf[string, int](m, xcache.WithKeyPrefix("s:"))
		_, err := sets.Add(t.Context(), "set", []int{1})
		check(t, err)

		got, errs := collect(numbers.Keys(t.Context()))
		if !slices.Equal(got, want) || errs != nil {
			t.Errorf("Keys of the view = %d keys, %v; want 0 to 999", len(got), errs)
		}
		strs, errs := collect(keysOf(t, m, "s:"))
		if !slices.Equal(strs, []string{"set"}) || errs != nil {
			t.Errorf("Keys of another view = %v, %v; want set", strs, errs)
		}
		if strs, errs = collect(keysOf(t, m, "")); len(strs) != 1001 || errs != nil ||
			!slices.Contains(strs, "s:set") {
			t.Errorf("Keys of a view without a prefix = %d keys, %v; want 1001", len(strs), errs)
		}
	})

	t.Run("skips internal keys", func(t *testing.T) {
		m := newManager(t, xcache.WithPrefix("app:"))
		c := xcache.KeyCacheOf[string, int](m, xcache.WithNegativeTTL(time.Minute))
		_, _, err := c.GetOrLoad(t.Context(), "none",
			func(context.Context) (*int, error) { return nil, nil })
		check(t, err)
		check(t, c.Set(t.Context(), "k", new(1)))
		_, err = m.Store().Set(t.Context(), "app:\x00lease\x00job", []byte("record"),
			driver.Write{})
		check(t, err)
		for name, walk := range map[string]iter.Seq2[string, error]{
			"the view":     c.Keys(t.Context()),
			"another view": keysOf(t, m, ""),
		} {
			if got, errs := collect(walk); !slices.Equal(got, []string{"k"}) || errs != nil {
				t.Errorf("%s: Keys = %q, %v; want k", name, got, errs)
			}
		}
	})

	t.Run("parses keys", func(t *testing.T) {
		m := newManager(t)
		ids := xcache.SetCacheOf[xsnowflake.SnowflakeID, int](m, xcache.WithKeyPrefix("id:"))
		_, err := ids.Add(t.Context(), 1<<60, []int{1})
		check(t, err)
		got, errs := collect(ids.Keys(t.Context()))
		if !slices.Equal(got, []xsnowflake.SnowflakeID{1 << 60}) || errs != nil {
			t.Errorf("Keys = %v, %v; want the id", got, errs)
		}
		codes := xcache.ListCacheOf[code, int](m, xcache.WithKeyPrefix("c:"))
		_, err = codes.Append(t.Context(), code{7}, []int{1})
		check(t, err)
		byCode := maps.Collect(codes.Keys(t.Context()))
		if !maps.Equal(byCode, map[code]error{{7}: nil}) {
			t.Errorf("Keys = %v, want code 7", byCode)
		}
		_, errs = collect(xcache.KeyCacheOf[tier, int](m).Keys(t.Context()))
		if len(errs) != 1 || !errors.Is(errs[0], xcache.ErrUnsupported) {
			t.Errorf("errors of a type without UnmarshalText = %v, want one ErrUnsupported", errs)
		}
	})

	t.Run("continues after a key of another type", func(t *testing.T) {
		m := newManager(t)
		strs := xcache.KeyCacheOf[string, int](m)
		for _, key := range []string{"1", "2", "03", "+4", "five"} {
			check(t, strs.Set(t.Context(), key, new(1)))
		}
		got, errs := collect(xcache.KeyCacheOf[int, int](m).Keys(t.Context()))
		if !slices.Equal(got, []int{1, 2}) || len(errs) != 3 {
			t.Errorf("Keys = %v with %d errors, want 1 and 2 with three", got, len(errs))
		}
		for _, err := range errs {
			var e *xcache.Error
			if !errors.Is(err, xcache.ErrDecode) || !errors.As(err, &e) {
				t.Errorf("error = %v, want ErrDecode", err)
			}
		}
	})

	t.Run("stops with the loop and the context", func(t *testing.T) {
		var events recorder
		m := newManager(t, xcache.WithMetrics(events.Observe))
		c := xcache.KeyCacheOf[int, int](m)
		for i := range 500 {
			check(t, c.Set(t.Context(), i, &i))
		}
		n := 0
		for _, err := range c.Keys(t.Context()) {
			check(t, err)
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Errorf("the loop ran %d times, want 3", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		n = 0
		for _, err := range c.Keys(ctx) {
			cancel()
			n++
			last = err
		}
		if !errors.Is(last, context.Canceled) || n > 200 {
			t.Errorf("the iteration stopped after %d keys with %v, want Canceled soon", n, last)
		}
		want := []string{"scan hit", "scan failed"}
		var got []string
		for _, e := range events.events {
			if e.Op == "scan" {
				got = append(got, fmt.Sprint(e.Op, " ", e.Outcome))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("events = %q, want %q", got, want)
		}
	})

	t.Run("reports a store without scans", func(t *testing.T) {
		m := managerOf(t, unbatched{drivertest.NewMapStore(nil)}, xcache.WithPrefix("app:"))
		c := xcache.KeyCacheOf[string, int](m)
		if _, errs := collect(c.Keys(t.Context())); len(errs) != 1 ||
			!errors.Is(errs[0], xcache.ErrUnsupported) {
			t.Errorf("errors of Keys = %v, want ErrUnsupported", errs)
		}
		if _, err := c.Clear(t.Context()); !errors.Is(err, xcache.ErrUnsupported) {
			t.Errorf("Clear = %v, want ErrUnsupported", err)
		}
	})

	t.Run("stops with the context if the store ignores it", func(t *testing.T) {
		c := xcache.KeyCacheOf[int, int](managerOf(t, contextIgnorer{drivertest.NewMapStore(nil)}),
			xcache.WithKeyPrefix("n:"))
		for i := range 500 {
			check(t, c.Set(t.Context(), i, &i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		var last error
		for _, last = range c.Keys(ctx) {
			cancel()
			n++
		}
		if !errors.Is(last, context.Canceled) || n > 200 {
			t.Errorf("the iteration stopped after %d keys with %v, want Canceled soon", n, last)
		}
	})
}

// tier is a key that can be formatted but not parsed; code can do both.
type (
	tier int
	code struct{ n int }
)

func (t tier) String() string { return fmt.Sprint("tier ", int(t)) }

func (c code) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "code-%d", c.n), nil }

func (c *code) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "code-%d", &c.n)
	return err
}

func TestKeyCache_Clear(t *testing.T) {
	t.Run("removes only keys of the view", func(t *testing.T) {
		m := newManager(t, xcache.WithPrefix("app:"))
		c := xcache.KeyCacheOf[int, int](m, xcache.WithKeyPrefix("n:"),
			xcache.WithNegativeTTL(time.Hour))
		for i := range 2500 {
			check(t, c.Set(t.Context(), i, &i))
		}
		loads := 0
		none := func(context.Context) (*int, error) { loads++; return nil, nil }
		_, _, err := c.GetOrLoad(t.Context(), -1, none)
		check(t, err)
		other := xcache.KeyCacheOf[string, int](m)
		check(t, other.Set(t.Context(), "n", new(1)))

		n, err := c.Clear(t.Context())
		if n != 2500 || err != nil {
			t.Errorf("Clear = %d, %v; want 2500", n, err)
		}
		if got, _ := collect(keysOf(t, m, "")); !slices.Equal(got, []string{"n"}) {
			t.Errorf("remaining keys = %v, want n", got)
		}
		if n, err = c.Clear(t.Context()); n != 0 || err != nil {
			t.Errorf("second Clear = %d, %v; want 0", n, err)
		}
		if _, _, err = c.GetOrLoad(t.Context(), -1, none); err != nil || loads != 2 {
			t.Errorf("%d loads, %v; want the absence mark removed", loads, err)
		}
	})

	t.Run("keeps leases", func(t *testing.T) {
		store := drivertest.NewMapStore(nil)
		m := managerOf(t, store, xcache.WithPrefix("app:"))
		// including those of a manager with a longer prefix
		for _, key := range []string{"app:\x00lease\x00job", "app:inner:\x00lease\x00job"} {
			_, err := store.Set(t.Context(), key, []byte("record"), driver.Write{})
			check(t, err)
		}
		n, err := xcache.KeyCacheOf[string, int](m).Clear(t.Context())
		if n != 0 || err != nil {
			t.Errorf("Clear = %d, %v; want nothing removed", n, err)
		}
		if ok, _ := store.Exists(t.Context(), "app:\x00lease\x00job"); !ok {
			t.Error("the lease record was removed")
		}
	})

	t.Run("rejects an empty prefix", func(t *testing.T) {
		c := xcache.HashCacheOf[string, string, int, struct{}](newManager(t))
		check(t, c.Set(t.Context(), "h", "f", new(1)))
		if n, err := c.Clear(t.Context()); n != 0 || !errors.Is(err, xcache.ErrOption) {
			t.Errorf("Clear = %d, %v; want ErrOption", n, err)
		}
		if ok, _ := c.Exists(t.Context(), "h", "f"); !ok {
			t.Error("the hash was removed")
		}
	})

	t.Run("takes precedence over an in-flight load", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, int](newManager(t), xcache.WithKeyPrefix("n:"))
		got, ok, err := c.GetOrLoad(t.Context(), "k", func(ctx context.Context) (*int, error) {
			_, err := c.Clear(ctx)
			return new(1), err
		})
		if err != nil || !ok || *got != 1 {
			t.Errorf("GetOrLoad = %v, %t, %v; want the loaded value", got, ok, err)
		}
		if _, ok, _ = c.Get(t.Context(), "k"); ok {
			t.Error("the stale load was stored")
		}
	})

	t.Run("returns the error of the backend", func(t *testing.T) {
		c := xcache.KeyCacheOf[string, int](managerOf(t, undeletable{drivertest.NewMapStore(nil)}),
			xcache.WithKeyPrefix("n:"))
		check(t, c.Set(t.Context(), "k", new(1)))
		if n, err := c.Clear(t.Context()); n != 0 || !errors.Is(err, errDelete) {
			t.Errorf("Clear = %d, %v; want the backend's error", n, err)
		}
	})
}

// undeletable is a store whose Delete fails.
type undeletable struct{ *drivertest.MapStore }

var errDelete = errors.New("undeletable")

func (undeletable) Delete(context.Context, ...string) (int, error) { return 0, errDelete }

// contextIgnorer is a store whose Scan ignores its context.
type contextIgnorer struct{ *drivertest.MapStore }

func (s contextIgnorer) Scan(
	ctx context.Context, prefix string, page func(keys []string) bool,
) error {
	return s.MapStore.Scan(context.WithoutCancel(ctx), prefix, page)
}
