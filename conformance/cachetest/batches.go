package cachetest

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var batchChecks = []check{
	{"Batch/Sizes", testBatchSizes},
	{"Batch/DuplicateMissingAndWrongTypeKeys", testBatchMixed},
	{"Batch/EmptyValues", testBatchEmpty},
	{"Batch/TTL", testBatchTTL},
	{"Batch/TTLPerItem", testBatchTTLPerItem},
	{"Batch/OneRoundTrip", testBatchTrips},
	{"Call/OneRoundTrip", testCallTrips},
}

func testBatchSizes(t *testing.T, e *env) {
	c := xcache.KeyCacheOf[int, string](e.m)
	must(t, c.Set(t.Context(), -1, new("other")))
	for _, n := range []int{0, 1, 1000, 5000} {
		in, keys := map[int]string{}, make([]int, n)
		for i := range n {
			in[i], keys[i] = fmt.Sprint("value ", i), i
		}
		must(t, c.SetMany(t.Context(), in))
		got, err := c.GetMany(t.Context(), keys)
		must(t, err)
		if !maps.Equal(got, in) {
			t.Errorf("GetMany of %d keys = %d values, or different values", n, len(got))
		}
		removed, err := c.DeleteMany(t.Context(), keys)
		must(t, err)
		want(t, fmt.Sprintf("removed of %d", n), removed, n)
		got, err = c.GetMany(t.Context(), keys)
		must(t, err)
		want(t, "values after DeleteMany", len(got), 0)
	}
	others, err := c.GetMany(t.Context(), []int{-1})
	must(t, err)
	want(t, "other key", others[-1], "other")
}

func testBatchMixed(t *testing.T, e *env) {
	users := e.users()
	must(t, users.SetMany(t.Context(), map[string]user{"a": {ID: 1}, "b": {ID: 2}}))
	for _, k := range []kind{hash, set, list} {
		fill(t, e.m, string(k), k)
	}
	keys := []string{"none", "a", "hash", "a", "set", "b", "list", "none", "a"}
	got, err := users.GetMany(t.Context(), keys)
	must(t, err)
	if !maps.Equal(got, map[string]user{"a": {ID: 1}, "b": {ID: 2}}) {
		t.Errorf("GetMany = %v, want only a and b", got)
	}
	must(t, users.SetMany(t.Context(), map[string]user{"hash": {ID: 3}, "c": {ID: 4}}))
	wantValue(t, users, "hash", user{ID: 3})
	wantValue(t, users, "c", user{ID: 4})
	n, err := users.DeleteMany(t.Context(), keys)
	must(t, err)
	want(t, "removed", n, 5)
	wantValue(t, users, "c", user{ID: 4})
}

func testBatchEmpty(t *testing.T, e *env) {
	texts, data := xcache.KeyCacheOf[string, string](e.m), xcache.KeyCacheOf[string, []byte](e.m)
	must(t, texts.SetMany(t.Context(), map[string]string{"empty": "", "full": "x"}))
	got, err := texts.GetMany(t.Context(), []string{"empty", "none", "full"})
	must(t, err)
	if !maps.Equal(got, map[string]string{"empty": "", "full": "x"}) {
		t.Errorf("GetMany = %q, want the empty value included", got)
	}
	must(t, data.SetMany(t.Context(), map[string][]byte{"no bytes": {}, "nil": nil}))
	bytes, err := data.GetMany(t.Context(), []string{"no bytes", "nil", "missing"})
	must(t, err)
	want(t, "empty byte slices of GetMany", len(bytes), 2)
	if b, ok := e.m.Store().(driver.Batcher); ok {
		raw, err := b.GetMany(t.Context(), []string{e.prefix + "empty", e.prefix + "none"})
		must(t, err)
		if len(raw) != 2 || raw[0] == nil || raw[1] != nil {
			t.Errorf("the store's GetMany = %#v, want an empty value that is not nil, and nil", raw)
		}
	}
}

func testBatchTTL(t *testing.T, e *env) {
	users := e.users()
	must(t, users.SetMany(t.Context(), map[string]user{"a": {ID: 1}, "b": {ID: 1}},
		xcache.WithTTL(20*e.unit)))
	wantTTL(t, users, "a", 18*e.unit, 20*e.unit)
	must(t, users.SetMany(t.Context(), map[string]user{"a": {ID: 2}, "new": {ID: 2}},
		xcache.WithKeepTTL(), xcache.WithTTL(10*e.unit)))
	wantTTL(t, users, "a", 18*e.unit, 20*e.unit)
	wantTTL(t, users, "new", 8*e.unit, 10*e.unit)
	wantValue(t, users, "a", user{ID: 2})
	must(t, users.SetMany(t.Context(), map[string]user{"a": {ID: 3}, "b": {ID: 3}}))
	wantTTL(t, users, "a", 0, 0)
	wantTTL(t, users, "b", 0, 0)
}

// testBatchTTLPerItem uses the store directly, because the TTLs of a view's batch differ
// only by jitter.
func testBatchTTLPerItem(t *testing.T, e *env) {
	b, ok := e.m.Store().(driver.Batcher)
	if !ok {
		t.Skip("the store is not a driver.Batcher")
	}
	texts := xcache.KeyCacheOf[string, string](e.m)
	must(t, texts.Set(t.Context(), "kept", new("old"), xcache.WithTTL(40*e.unit)))
	must(t, texts.Set(t.Context(), "reset", new("old"), xcache.WithTTL(40*e.unit)))
	item := func(key string, w driver.Write) driver.Item {
		return driver.Item{Key: e.prefix + key, Value: []byte("new"), Write: w}
	}
	must(t, b.SetMany(t.Context(), []driver.Item{
		item("short", driver.Write{TTL: 5 * e.unit}),
		item("permanent", driver.Write{}),
		item("kept", driver.Write{KeepTTL: true, TTL: 10 * e.unit}),
		item("long", driver.Write{TTL: 20 * e.unit}),
		item("new", driver.Write{KeepTTL: true, TTL: 10 * e.unit}),
		item("reset", driver.Write{}),
	}))
	for _, tc := range []struct {
		key         string
		above, most time.Duration
	}{
		{"short", 3 * e.unit, 5 * e.unit},
		{"permanent", 0, 0},
		{"kept", 38 * e.unit, 40 * e.unit},
		{"long", 18 * e.unit, 20 * e.unit},
		{"new", 8 * e.unit, 10 * e.unit},
		{"reset", 0, 0},
	} {
		wantTTL(t, texts, tc.key, tc.above, tc.most)
		wantValue(t, texts, tc.key, "new")
	}
}

// trips returns the number of round trips of call. Execute call once before, because the
// first execution may also connect and load scripts.
func (e *env) trips(t *testing.T, call func() error) int {
	t.Helper()
	if e.h.RoundTrips == nil {
		t.Skip("no RoundTrips in the harness")
	}
	err := errors.New("RoundTrips did not call run")
	n := e.h.RoundTrips(e.m.Store(), func() { err = call() })
	must(t, err)
	return n
}

func testBatchTrips(t *testing.T, e *env) {
	c := xcache.KeyCacheOf[int, int](e.m)
	in, keys := map[int]int{}, []int{}
	for i := range 100 {
		in[i], keys = i, append(keys, i)
	}
	for name, batch := range map[string]func() error{
		"SetMany":    func() error { return c.SetMany(t.Context(), in) },
		"GetMany":    func() error { _, err := c.GetMany(t.Context(), keys); return err },
		"DeleteMany": func() error { _, err := c.DeleteMany(t.Context(), keys); return err },
		"KeepTTL": func() error {
			return c.SetMany(t.Context(), in, xcache.WithKeepTTL(), xcache.WithTTL(time.Minute))
		},
	} {
		must(t, batch())
		want(t, "round trips of "+name, e.trips(t, batch), 1)
	}
}

// testCallTrips checks that condition, value and TTL are sent in one round trip.
func testCallTrips(t *testing.T, e *env) {
	for _, c := range calls(e.m) {
		if c.manyTrips {
			continue
		}
		fillAll(t, e.m)
		must(t, c.run(t.Context(), c.key()))
		fillAll(t, e.m)
		want(t, "round trips of "+c.name,
			e.trips(t, func() error { return c.run(t.Context(), c.key()) }), 1)
	}
}
