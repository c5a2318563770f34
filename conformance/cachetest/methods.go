package cachetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// methodChecks call every method of every view.
var methodChecks = []check{
	{"Method/CanceledContext", testMethodContext},
	{"Method/Closed", testMethodClosed},
	{"Method/WrongType", testMethodKinds},
	{"Method/SpecialCharacters", testMethodNames},
	{"Method/MissingKey", testMethodMissing},
}

func testMethodContext(t *testing.T, e *env) {
	fillAll(t, e.m)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range calls(e.m) {
		for _, ctx := range []context.Context{canceled, expired} {
			err := c.run(ctx, c.key())
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%s = %v, want %v", c.name, err, ctx.Err())
			}
			if xerror.From(err).GetErrorCode() == xerror.CacheError {
				t.Errorf("%s: a context error must not be a CacheError", c.name)
			}
		}
	}
	for _, k := range kinds { // the calls must not change values
		if got := content(t, e.m, string(k), k); got != contents[k] {
			t.Errorf("%s = %s, want %s", k, got, contents[k])
		}
	}
}

// contents maps kinds to the content of keys after fill.
var contents = map[kind]string{
	plain: "{1  0}", hash: "map[age:1 id:2]", set: "[a b]", list: "[a b a]",
}

func testMethodClosed(t *testing.T, e *env) {
	m := e.open(t)
	fillAll(t, m)
	for _, k := range kinds {
		if got := content(t, m, string(k), k); got != contents[k] {
			t.Errorf("%s = %s, want %s", k, got, contents[k])
		}
	}
	all := calls(m)
	must(t, m.Close())
	must(t, m.Close())
	for _, c := range all {
		if err := c.run(t.Context(), c.key()); !errors.Is(err, xcache.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", c.name, err)
		}
	}
	_, ok, err := xcache.KeyCacheOf[string, user](m).Get(t.Context(), "plain")
	if ok || !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Get after Close = %t, %v; want ErrClosed", ok, err)
	}
}

// testMethodKinds calls each method with each wrong kind.
func testMethodKinds(t *testing.T, e *env) {
	for _, k := range kinds {
		key := "is a " + string(k)
		fill(t, e.m, key, k)
		for _, c := range calls(e.m) {
			if c.on == anyKind || c.on == k {
				continue
			}
			err := c.run(t.Context(), key)
			if !errors.Is(err, xcache.ErrWrongType) ||
				xerror.From(err).GetErrorCode() != xerror.CacheError {
				t.Errorf("%s on a %s = %v, want ErrWrongType and a CacheError", c.name, k, err)
			}
		}
		if got := content(t, e.m, key, k); got != contents[k] {
			t.Errorf("%s = %s after rejected calls, want %s", k, got, contents[k])
		}
		_, ok, err := e.users().TTL(t.Context(), key)
		must(t, err)
		want(t, "TTL found", ok, true)
		wantTTL(t, e.users(), key, 0, 0)
		ok, err = e.users().Exists(t.Context(), key)
		must(t, err)
		want(t, "Exists of any kind", ok, true)
	}
}

// testMethodNames uses special characters in keys, fields, members, elements and values,
// and removes them one by one. Removing one must not remove another.
func testMethodNames(t *testing.T, e *env) {
	hashes := xcache.HashCacheOf[string, string, string, struct{}](e.m, xcache.WithKeyPrefix("h:"))
	sets := xcache.SetCacheOf[string, string](e.m, xcache.WithKeyPrefix("s:"))
	lists := xcache.ListCacheOf[string, string](e.m, xcache.WithKeyPrefix("l:"))
	names := append(slices.Clone(specialKeys), "")
	for _, name := range names {
		for _, inner := range names {
			must(t, hashes.Set(t.Context(), name, inner, &inner))
		}
		_, err := sets.Add(t.Context(), name, names)
		must(t, err)
		_, err = lists.Append(t.Context(), name, names)
		must(t, err)
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, name := range names {
		all, err := hashes.GetAll(t.Context(), name)
		must(t, err)
		for _, inner := range names {
			want(t, fmt.Sprintf("the field %q of %q", inner, name), all[inner], inner)
		}
		want(t, "fields", len(all), len(names))
		members, err := sets.Members(t.Context(), name)
		must(t, err)
		slices.Sort(members)
		wantList(t, fmt.Sprintf("members of %q", name), members, sorted)
		elements, err := lists.Range(t.Context(), name, 0, -1)
		must(t, err)
		wantList(t, fmt.Sprintf("elements of %q", name), elements, names)

		for j, inner := range names {
			n, err := hashes.Remove(t.Context(), name, inner)
			must(t, err)
			want(t, "removed fields", n, 1)
			n, err = sets.Remove(t.Context(), name, inner)
			must(t, err)
			want(t, "removed members", n, 1)
			n, err = lists.Remove(t.Context(), name, 0, inner)
			must(t, err)
			want(t, "removed elements", n, 1)
			if j == i {
				break
			}
		}
		count, err := sets.Count(t.Context(), name)
		must(t, err)
		want(t, fmt.Sprintf("members of %q remaining", name), count, len(names)-i-1)
		must(t, lists.Delete(t.Context(), name))
		for _, rest := range names[i+1:] {
			n, err := lists.Len(t.Context(), rest)
			must(t, err)
			want(t, fmt.Sprintf("elements of %q after the removal of %q", rest, name), n,
				len(names))
		}
	}
}

// testMethodMissing checks that a missing key is not an error and that reads do not
// create it.
func testMethodMissing(t *testing.T, e *env) {
	for _, c := range calls(e.m) {
		key := "missing " + c.name
		if err := c.run(t.Context(), key); err != nil {
			t.Errorf("%s of a missing key = %v, want no error", c.name, err)
		}
		ok, err := e.users().Exists(t.Context(), key)
		must(t, err)
		if creates := createsKey[c.name]; ok != creates {
			t.Errorf("%s of a missing key: Exists = %t, want %t", c.name, ok, creates)
		}
	}
}

// createsKey contains the calls that create a key.
var createsKey = map[string]bool{
	"Key.Set": true, "Key.Set of references": true, "Key.Set TTL": true, "Key.Set NX TTL": true,
	"Key.Set KeepTTL TTL": true, "Key.SetMany": true, "Key.SetMany KeepTTL TTL": true,
	"Key.GetOrLoad": true,

	"Hash.Set": true, "Hash.Set TTL": true, "Hash.Set NX TTL": true, "Hash.Set NoSlide TTL": true,
	"Hash.SetAll": true, "Hash.SetAllStruct": true,

	"Set.Add": true, "Set.Add TTL": true, "Set.Add NoSlide TTL": true,

	"List.Prepend": true, "List.Append": true, "List.Append TTL": true,
	"List.Append NoSlide TTL": true,
}
