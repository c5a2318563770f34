package cachetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var scanChecks = []check{
	{"Scan/Prefix", testScanKinds},
	{"Scan/PrefixIsLiteral", testScanPatterns},
	{"Scan/TenThousandKeys", testScanMany},
	{"Scan/ConcurrentWrites", testScanConcurrent},
	{"Scan/ExpiredKeys", testScanExpired},
	{"Scan/Stop", testScanStops},
	{"Scan/CanceledContext", testScanContext},
	{"Scan/KeyTypes", testScanTypes},
	{"Scan/NestedCalls", testScanNested},
}

// scanner returns the store as a driver.Scanner. If the store does not implement it,
// scanner checks that views return ErrUnsupported and skips the check.
func (e *env) scanner(t *testing.T) driver.Scanner {
	t.Helper()
	s, ok := e.m.Store().(driver.Scanner)
	if !ok {
		if err := walk(e.keys(t, "")); !errors.Is(err, xcache.ErrUnsupported) {
			t.Errorf("Keys = %v, want ErrUnsupported", err)
		}
		t.Skip("the store is not a driver.Scanner")
	}
	return s
}

// keys iterates over the keys with prefix.
func (e *env) keys(t *testing.T, prefix string) iter.Seq2[string, error] {
	t.Helper()
	return xcache.KeyCacheOf[string, int](e.m, xcache.WithKeyPrefix(prefix)).Keys(t.Context())
}

// wantKeys fails the test unless an iteration returns exactly the expected keys.
func wantKeys[K interface{ ~string | ~int | ~int64 }](
	t testing.TB, what string, keys iter.Seq2[K, error], expected ...K,
) {
	t.Helper()
	var got []K
	for key, err := range keys {
		must(t, err)
		got = append(got, key)
	}
	slices.Sort(got)
	slices.Sort(expected)
	if !slices.Equal(got, expected) {
		t.Errorf("%s = %d keys %.200q, want %d %.200q",
			what, len(got), fmt.Sprint(got), len(expected), fmt.Sprint(expected))
	}
}

// scanned returns the keys that the store's Scan returns for a complete prefix, with
// possible duplicates removed.
func scanned(t testing.TB, s driver.Scanner, prefix string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	must(t, s.Scan(t.Context(), prefix, func(page []string) bool {
		for _, key := range page {
			keys[key] = true
		}
		return true
	}))
	return keys
}

func testScanKinds(t *testing.T, e *env) {
	s := e.scanner(t)
	for _, k := range kinds {
		fill(t, e.m, "in:"+string(k), k)
		fill(t, e.m, "out:"+string(k), k)
	}
	fill(t, e.m, "in", plain)
	fill(t, e.m, "in:", plain)
	expected := []string{"", "hash", "list", "plain", "set"}
	in := xcache.WithKeyPrefix("in:")
	wantKeys(t, "Keys of the key view",
		xcache.KeyCacheOf[string, int](e.m, in).Keys(t.Context()), expected...)
	wantKeys(t, "Keys of the hash view",
		xcache.HashCacheOf[string, string, int, struct{}](e.m, in).Keys(t.Context()), expected...)
	wantKeys(t, "Keys of the set view",
		xcache.SetCacheOf[string, int](e.m, in).Keys(t.Context()), expected...)
	wantKeys(t, "Keys of the list view",
		xcache.ListCacheOf[string, int](e.m, in).Keys(t.Context()), expected...)
	wantKeys(t, "Keys of a longer prefix", e.keys(t, "in:s"), "et")
	wantKeys(t, "Keys of another prefix", e.keys(t, "none"))
	raw := scanned(t, s, e.prefix+"in:")
	if want := 5; len(raw) != want || !raw[e.prefix+"in:hash"] {
		t.Errorf("the store's Scan = %q, want the %d complete keys",
			slices.Collect(maps.Keys(raw)), want)
	}
	wantKeys(t, "Keys without a prefix", e.keys(t, ""),
		"in", "in:", "in:hash", "in:list", "in:plain", "in:set",
		"out:hash", "out:list", "out:plain", "out:set")
}

func testScanPatterns(t *testing.T, e *env) {
	s := e.scanner(t)
	prefixes := []string{
		"*", "a*b:", "a?b:", "[ab]:", "[^a]:", "[a-z]", `\`, `a\*:`, `\\`, "a\nb:",
		"\x00:", "\xff\xfe", "{tag}:", "%", "_", "a.b", "^", "漢", "(", "a|b",
	}
	decoys := []string{
		"axb:1", "aab:1", "a:1", "b:1", "x1", "a*", `*b:`, "aXXb:1", "tag:1", "axb", "(1",
	}
	for _, prefix := range append(slices.Clone(prefixes), decoys...) {
		fill(t, e.m, prefix+"1", plain)
		fill(t, e.m, prefix+"*", plain)
	}
	for _, prefix := range prefixes {
		for key := range scanned(t, s, e.prefix+prefix) {
			if !strings.HasPrefix(key, e.prefix+prefix) {
				t.Errorf("the store's Scan of %q returned %q", prefix, key[len(e.prefix):])
			}
		}
		var expected []string
		for _, other := range append(slices.Clone(prefixes), decoys...) {
			for _, key := range []string{other + "1", other + "*"} {
				if strings.HasPrefix(key, prefix) {
					expected = append(expected, key[len(prefix):])
				}
			}
		}
		slices.Sort(expected)
		c := xcache.KeyCacheOf[string, user](e.m, xcache.WithKeyPrefix(prefix))
		wantKeys(t, fmt.Sprintf("Keys of the prefix %q", prefix), c.Keys(t.Context()),
			slices.Compact(expected)...)
	}
}

func testScanMany(t *testing.T, e *env) {
	e.scanner(t)
	c := xcache.KeyCacheOf[int, int](e.m, xcache.WithKeyPrefix("n:"))
	many, expected := map[int]int{}, make([]int, 10_000)
	for i := range expected {
		many[i], expected[i] = i, i
	}
	must(t, c.SetMany(t.Context(), many))
	fill(t, e.m, "m:1", plain)
	wantKeys(t, "Keys", c.Keys(t.Context()), expected...)
	n, err := c.DeleteMany(t.Context(), expected)
	must(t, err)
	want(t, "removed", n, len(expected))
}

func testScanConcurrent(t *testing.T, e *env) {
	e.scanner(t)
	permanent := xcache.KeyCacheOf[int, int](e.m, xcache.WithKeyPrefix("permanent:"))
	many := map[int]int{}
	for i := range 2000 {
		many[i] = i
	}
	must(t, permanent.SetMany(t.Context(), many))
	var errs firstError
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		// These keys sort before the permanent keys and change their positions.
		changing := xcache.KeyCacheOf[int, int](e.m, xcache.WithKeyPrefix("changing:"))
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			errs.add(changing.Set(t.Context(), i%5000, &i))
			errs.add(changing.Delete(t.Context(), (i+2500)%5000))
			errs.add(permanent.Set(t.Context(), i%2000, &i)) // rewritten, but it always exists
		}
	}()
	for range 3 {
		found := map[string]int{}
		for key, err := range e.keys(t, "") {
			errs.add(err)
			found[key]++
		}
		for i := range many {
			if n := found[fmt.Sprint("permanent:", i)]; n != 1 {
				t.Errorf("a permanent key was returned %d times", n)
				break
			}
		}
	}
	close(stop)
	<-done
	errs.must(t)
}

func testScanExpired(t *testing.T, e *env) {
	s := e.scanner(t)
	must(t, e.users().Set(t.Context(), "short", &user{}, xcache.WithTTL(e.unit)))
	must(t, e.users().Set(t.Context(), "long", &user{}, xcache.WithTTL(100*e.unit)))
	wantKeys(t, "Keys", e.keys(t, ""), "long", "short")
	e.advance(2 * e.unit)
	wantKeys(t, "Keys after one expired", e.keys(t, ""), "long")
	if raw := scanned(t, s, e.prefix); len(raw) != 1 {
		t.Errorf("the store's Scan returned %d keys, want 1", len(raw))
	}
}

func testScanStops(t *testing.T, e *env) {
	s := e.scanner(t)
	many := map[int]int{}
	for i := range 5000 {
		many[i] = i
	}
	c := xcache.KeyCacheOf[int, int](e.m)
	must(t, c.SetMany(t.Context(), many))
	pages := 0
	must(t, s.Scan(t.Context(), e.prefix, func([]string) bool {
		pages++
		return false
	}))
	want(t, "pages of a stopped scan", pages, 1)
	n := 0
	for _, err := range c.Keys(t.Context()) {
		must(t, err)
		if n++; n == 10 {
			break
		}
	}
	want(t, "keys until the break", n, 10)
	got, err := c.GetMany(t.Context(), []int{1, 2})
	must(t, err)
	want(t, "values after a stopped scan", len(got), 2)
}

func testScanContext(t *testing.T, e *env) {
	s := e.scanner(t)
	many := map[int]int{}
	for i := range 5000 {
		many[i] = i
	}
	c := xcache.KeyCacheOf[int, int](e.m)
	must(t, c.SetMany(t.Context(), many))
	ctx, cancel := context.WithCancel(t.Context())
	pages := 0
	err := s.Scan(ctx, e.prefix, func([]string) bool {
		pages++
		cancel()
		return true
	})
	if pages != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("the store's Scan = %v after %d pages, want the context error after one page",
			err, pages)
	}
	if err := walk(c.Keys(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("Keys = %v, want the context error", err)
	}
	expired, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err = xcache.KeyCacheOf[int, int](e.m).Clear(expired)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Clear = %v, want the context error", err)
	}
	got, err := c.GetMany(t.Context(), []int{1, 4999})
	must(t, err)
	want(t, "values after a canceled Clear", len(got), 2)
}

func testScanTypes(t *testing.T, e *env) {
	e.scanner(t)
	numbers := xcache.SetCacheOf[int, int](e.m, xcache.WithKeyPrefix("n:"))
	ids := xcache.ListCacheOf[xsnowflake.SnowflakeID, int](e.m, xcache.WithKeyPrefix("id:"))
	for _, n := range []int{-5, 0, 1 << 40} {
		_, err := numbers.Add(t.Context(), n, []int{1})
		must(t, err)
		_, err = ids.Append(t.Context(), xsnowflake.SnowflakeID(n+6), []int{1})
		must(t, err)
	}
	wantKeys(t, "Keys of numbers", numbers.Keys(t.Context()), -5, 0, 1<<40)
	wantKeys(t, "Keys of ids", ids.Keys(t.Context()), 1, 6, 1<<40+6)
	special := xcache.KeyCacheOf[string, string](e.m, xcache.WithKeyPrefix("special:"))
	for _, key := range specialKeys {
		must(t, special.Set(t.Context(), key, new("v")))
	}
	wantKeys(t, "Keys with special characters", special.Keys(t.Context()), specialKeys...)
	errs := 0
	for _, err := range xcache.KeyCacheOf[int, int](e.m,
		xcache.WithKeyPrefix("special:")).Keys(t.Context()) {
		if !errors.Is(err, xcache.ErrDecode) {
			t.Errorf("key of another type: %v, want ErrDecode", err)
		}
		errs++
	}
	want(t, "keys of another type", errs, len(specialKeys))
}

// testScanNested calls the store during the iteration, as Clear does.
func testScanNested(t *testing.T, e *env) {
	e.scanner(t)
	c := xcache.KeyCacheOf[int, int](e.m)
	for i := range 300 {
		must(t, c.Set(t.Context(), i, &i))
	}
	n := 0
	for key, err := range c.Keys(t.Context()) {
		must(t, err)
		got := present[int](t)(c.Get(t.Context(), key))
		want(t, "value during the scan", *got, key)
		must(t, c.Delete(t.Context(), key))
		n++
	}
	want(t, "keys", n, 300)
	wantKeys(t, "Keys afterwards", c.Keys(t.Context()))
}
