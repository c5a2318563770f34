package cachetest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var edgeChecks = []check{
	{"Edge/SpecialCharactersInKeys", testSpecialKeys},
	{"Edge/EmptyKey", testEmptyKey},
	{"Edge/LargeKey", testLargeKey},
	{"Edge/LargeValues", testLargeValues},
	{"Edge/LargeUpdates", testLargeUpdates},
	{"Edge/Prefix", testPrefix},
	{"Edge/UnencodableValues", testUnencodable},
	{"Edge/Health", testHealth},
}

// specialKeys contains keys with characters that are special in protocols or patterns.
var specialKeys = []string{
	"a\nb", "a\r\nb", "*", "?", "[ab]", "a b", "a:b", "{tag}x", "\x00", "\xff\xfe",
	"漢字", "ä", `"`, `\`,
}

func testSpecialKeys(t *testing.T, e *env) {
	texts := xcache.KeyCacheOf[string, string](e.m)
	for _, key := range specialKeys {
		must(t, texts.Set(t.Context(), key, &key))
	}
	for _, key := range specialKeys {
		wantValue(t, texts, key, key)
	}
	got, err := texts.GetMany(t.Context(), specialKeys)
	must(t, err)
	want(t, "values of GetMany", len(got), len(specialKeys))
	for i, key := range specialKeys {
		must(t, texts.Delete(t.Context(), key)) // must not delete other keys
		for _, rest := range specialKeys[i+1:] {
			wantValue(t, texts, rest, rest)
		}
	}
}

func testEmptyKey(t *testing.T, e *env) {
	m, err := xcache.New(e.store(t)) // no prefix, so the complete key is empty
	must(t, err)
	users := xcache.KeyCacheOf[string, user](m)
	must(t, users.Set(t.Context(), "", &user{ID: 1}, xcache.WithTTL(time.Minute)))
	wantValue(t, users, "", user{ID: 1})
	must(t, users.Delete(t.Context(), ""))
	wantMissing(t, users, "")
	for _, k := range kinds {
		fill(t, m, "", k)
		if got := content(t, m, "", k); got != contents[k] {
			t.Errorf("the %s under the empty key = %s, want %s", k, got, contents[k])
		}
		n, err := users.DeleteMany(t.Context(), []string{""})
		must(t, err)
		want(t, "removed", n, 1)
	}
}

const megabyte = 1 << 20

func testLargeKey(t *testing.T, e *env) {
	texts := xcache.KeyCacheOf[string, string](e.m)
	long := strings.Repeat("k", megabyte)
	must(t, texts.Set(t.Context(), long, new("1")))
	must(t, texts.Set(t.Context(), long[:megabyte-1], new("2")))
	wantValue(t, texts, long, "1")
	must(t, texts.Delete(t.Context(), long))
	wantValue(t, texts, long[:megabyte-1], "2")
	must(t, texts.Delete(t.Context(), long[:megabyte-1]))
}

func testLargeValues(t *testing.T, e *env) {
	big := strings.Repeat("v", megabyte)
	texts := xcache.KeyCacheOf[string, string](e.m)
	must(t, texts.Set(t.Context(), "k", &big))
	wantValue(t, texts, "k", big)
	hash := xcache.HashCacheOf[string, string, string, struct{}](e.m)
	must(t, hash.Set(t.Context(), "h", big, &big))
	all, err := hash.GetAll(t.Context(), "h")
	must(t, err)
	if !maps.Equal(all, map[string]string{big: big}) {
		t.Error("large field or value of a hash is missing")
	}
	_, err = e.words().Add(t.Context(), "s", []string{big})
	must(t, err)
	ok, err := e.words().IsMember(t.Context(), "s", big)
	must(t, err)
	want(t, "IsMember of a large member", ok, true)
	_, err = e.letters().Append(t.Context(), "l", []string{big, "x"})
	must(t, err)
	got, ok, err := e.letters().Pop(t.Context(), "l")
	must(t, err)
	if !ok || *got != big {
		t.Error("large element of a list is missing")
	}
	for _, key := range []string{"k", "h", "s", "l"} {
		must(t, texts.Delete(t.Context(), key))
	}
}

// testPrefix inspects the store directly.
func testPrefix(t *testing.T, e *env) {
	m := e.open(t)
	store := m.Store()
	view := xcache.WithKeyPrefix("view:")
	texts := xcache.KeyCacheOf[string, string](m, view)
	must(t, texts.Set(t.Context(), "k", new("value")))
	must(t, texts.SetMany(t.Context(), map[string]string{"m1": "value", "m2": "value"}))
	must(t, xcache.HashCacheOf[string, string, string, struct{}](m, view).
		Set(t.Context(), "h", "field", new("value")))
	_, err := xcache.SetCacheOf[string, string](m, view).Add(t.Context(), "s", []string{"value"})
	must(t, err)
	_, err = xcache.ListCacheOf[string, string](m, view).Append(t.Context(), "l", []string{"value"})
	must(t, err)
	full := func(key string) string { return e.prefix + "view:" + key }
	for _, key := range []string{"k", "m1", "m2"} {
		data, ok, err := store.Get(t.Context(), full(key))
		must(t, err)
		if !ok || string(data) != "value" {
			t.Errorf("store value = %q, %t under the complete key of %s; want the value",
				data, ok, key)
		}
	}
	data, ok, err := store.HashGet(t.Context(), full("h"), "field")
	must(t, err)
	if !ok || string(data) != "value" {
		t.Errorf("store hash = %q, %t; want the raw field and value", data, ok)
	}
	ok, err = store.SetContains(t.Context(), full("s"), []byte("value"))
	must(t, err)
	want(t, "raw member in the store's set", ok, true)
	list, err := store.ListRange(t.Context(), full("l"), 0, -1)
	must(t, err)
	if len(list) != 1 || string(list[0]) != "value" {
		t.Errorf("store list = %q, want the value", list)
	}
	for _, key := range []string{"p1", "p2"} {
		_, err := store.Set(t.Context(), full(key), []byte("value"), driver.Write{})
		must(t, err)
	}
	many, err := texts.GetMany(t.Context(), []string{"p1", "k", "p2"})
	must(t, err)
	want(t, "values of GetMany", len(many), 3)
	n, err := texts.DeleteMany(t.Context(), []string{"k", "m1", "p1", "h", "s", "l"})
	must(t, err)
	want(t, "removed", n, 6)
	for key, exists := range map[string]bool{
		"k": false, "p1": false, "h": false, "s": false, "l": false, "m2": true, "p2": true,
	} {
		ok, err := store.Exists(t.Context(), full(key))
		must(t, err)
		want(t, "complete key of "+key+" exists", ok, exists)
	}
	if s, ok := store.(driver.Scanner); ok { // no other keys exist
		if got := scanned(t, s, e.prefix); len(got) != 2 {
			t.Errorf("the store's keys = %q, want m2 and p2", slices.Collect(maps.Keys(got)))
		}
	}
}

// testUnencodable checks that values that cannot be encoded are rejected, even by stores
// that do not encode.
func testUnencodable(t *testing.T, e *env) {
	users := e.users()
	nan := 0.0
	nan /= nan
	if err := users.Set(t.Context(), "k", &user{Rate: nan}); !errors.Is(err, xcache.ErrEncode) {
		t.Errorf("Set of NaN = %v, want ErrEncode", err)
	}
	wantMissing(t, users, "k")
	must(t, users.Set(t.Context(), "k", &user{Name: "a\xffb"}))
	wantValue(t, users, "k", user{Name: "a\uFFFDb"}) // like JSON
}

func testHealth(t *testing.T, e *env) {
	m := e.open(t)
	must(t, m.CheckHealth(t.Context()))
	if m.String() == "" {
		t.Error("String is empty")
	}
	must(t, m.Close())
	if err := m.CheckHealth(t.Context()); !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("CheckHealth after Close = %v, want ErrClosed", err)
	}
}
