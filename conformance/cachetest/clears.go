package cachetest

import (
	"context"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

var clearChecks = []check{
	{"Clear/Prefix", testClear},
	{"Clear/ManyKeys", testClearMany},
	{"Clear/AbsenceMarksAndLeases", testClearMarks},
}

func testClear(t *testing.T, e *env) {
	e.scanner(t)
	for _, prefix := range []string{"a:", "b:", "a*", "a?", "[ab]:"} {
		for _, k := range kinds {
			fill(t, e.m, prefix+string(k), k)
		}
	}
	n, err := xcache.KeyCacheOf[string, int](e.m, xcache.WithKeyPrefix("a*")).Clear(t.Context())
	must(t, err)
	want(t, "removed", n, 4)
	n, err = xcache.HashCacheOf[string, string, int, struct{}](e.m,
		xcache.WithKeyPrefix("[ab]:")).Clear(t.Context())
	must(t, err)
	want(t, "removed", n, 4)
	n, err = xcache.SetCacheOf[string, int](e.m, xcache.WithKeyPrefix("a?")).Clear(t.Context())
	must(t, err)
	want(t, "removed", n, 4)
	wantKeys(t, "keys remaining", e.keys(t, ""), "a:plain", "a:hash", "a:set", "a:list",
		"b:plain", "b:hash", "b:set", "b:list")
	n, err = xcache.ListCacheOf[string, int](e.m).Clear(t.Context())
	must(t, err)
	want(t, "removed", n, 8)
	n, err = xcache.ListCacheOf[string, int](e.m).Clear(t.Context())
	must(t, err)
	want(t, "removed without keys", n, 0)
}

func testClearMany(t *testing.T, e *env) {
	e.scanner(t)
	c := xcache.KeyCacheOf[int, int](e.m, xcache.WithKeyPrefix("n:"))
	many := map[int]int{}
	for i := range 5000 {
		many[i] = i
	}
	must(t, c.SetMany(t.Context(), many))
	fill(t, e.m, "other", set)
	n, err := c.Clear(t.Context())
	must(t, err)
	want(t, "removed", n, len(many))
	wantKeys(t, "keys remaining", e.keys(t, ""), "other")
}

func testClearMarks(t *testing.T, e *env) {
	s := e.scanner(t)
	c := xcache.KeyCacheOf[string, user](e.m, xcache.WithNegativeTTL(100*e.unit))
	loads := 0
	nothing := func(context.Context) (*user, error) { //nolint:unparam // no value
		loads++
		return nil, nil
	}
	wantLoads := func(expected int) {
		t.Helper()
		_, _, err := c.GetOrLoad(t.Context(), "k", nothing)
		must(t, err)
		want(t, "loads", loads, expected)
	}
	wantLoads(1)
	wantLoads(1)
	lease, err := e.lease(t, e.m)
	must(t, err)
	wantKeys(t, "Keys", e.keys(t, ""))
	n, err := c.Clear(t.Context())
	must(t, err)
	want(t, "removed", n, 0)
	wantLoads(2)
	if lease == nil {
		return
	}
	if _, err := e.lease(t, e.m); err == nil {
		t.Error("Clear removed the lease")
	}
	must(t, lease.Release(t.Context()))
	for key := range scanned(t, s, "") { // internal records must be under the prefix
		if strings.Contains(key, e.leaseName()) && !strings.HasPrefix(key, e.prefix) {
			t.Errorf("lease stored under %q", key)
		}
	}
}
