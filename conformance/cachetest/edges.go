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
	{"Edge/OddKeys", testOddKeys},
	{"Edge/EmptyKey", testEmptyKey},
	{"Edge/LargeKey", testLargeKey},
	{"Edge/LargeValues", testLargeValues},
	{"Edge/LargeUpdates", testLargeUpdates},
	{"Edge/PrefixOnEveryKeyAndOnNoValue", testPrefix},
	{"Edge/RefusedValues", testRefused},
	{"Edge/Health", testHealth},
}

// odd are keys that a protocol or a pattern could trip over.
var odd = []string{
	"a\nb", "a\r\nb", "*", "?", "[ab]", "a b", "a:b", "{tag}x", "\x00", "\xff\xfe",
	"漢字", "ä", `"`, `\`,
}

func testOddKeys(t *testing.T, e *env) {
	texts := xcache.KeyCacheOf[string, string](e.m)
	for _, key := range odd {
		must(t, texts.Set(t.Context(), key, &key))
	}
	for _, key := range odd {
		wantValue(t, texts, key, key)
	}
	got, err := texts.GetMany(t.Context(), odd)
	must(t, err)
	want(t, "values of GetMany", len(got), len(odd))
	for i, key := range odd {
		must(t, texts.Delete(t.Context(), key)) // takes no other key with it
		for _, rest := range odd[i+1:] {
			wantValue(t, texts, rest, rest)
		}
	}
}

func testEmptyKey(t *testing.T, e *env) {
	m, err := xcache.New(e.store(t)) // no prefix: the whole key is empty
	must(t, err)
	users := xcache.KeyCacheOf[string, user](m)
	must(t, users.Set(t.Context(), "", &user{ID: 1}, xcache.WithTTL(time.Minute)))
	wantValue(t, users, "", user{ID: 1})
	must(t, users.Delete(t.Context(), ""))
	wantGone(t, users, "")
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
		t.Error("a hash lost a large field or value")
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
		t.Error("a list lost a large element")
	}
	for _, key := range []string{"k", "h", "s", "l"} {
		must(t, texts.Delete(t.Context(), key))
	}
}

// testPrefix looks below the views, at what the store holds.
func testPrefix(t *testing.T, e *env) {
	m := e.open(t)
	store := m.Store()
	view := xcache.WithKeyPrefix("view:")
	texts := xcache.KeyCacheOf[string, string](m, view)
	must(t, texts.Set(t.Context(), "k", new("value")))
	must(t, texts.SetMany(t.Context(), map[string]string{"m1": "value", "m2": "value"}))
	must(t, xcache.HashCacheOf[string, string, string, struct{}](m, view).Set(t.Context(), "h",
		"field", new("value")))
	_, err := xcache.SetCacheOf[string, string](m, view).Add(t.Context(), "s", []string{"value"})
	must(t, err)
	_, err = xcache.ListCacheOf[string, string](m, view).Append(t.Context(), "l", []string{"value"})
	must(t, err)
	full := func(key string) string { return e.prefix + "view:" + key }
	for _, key := range []string{"k", "m1", "m2"} {
		data, ok, err := store.Get(t.Context(), full(key))
		must(t, err)
		if !ok || string(data) != "value" {
			t.Errorf("the store holds %q, %t under the whole key of %s; want the value",
				data, ok, key)
		}
	}
	data, ok, err := store.HashGet(t.Context(), full("h"), "field")
	must(t, err)
	if !ok || string(data) != "value" {
		t.Errorf("the store's hash holds %q, %t; want the field and the value as they are",
			data, ok)
	}
	ok, err = store.SetContains(t.Context(), full("s"), []byte("value"))
	must(t, err)
	want(t, "the store's set holds the member as it is", ok, true)
	list, err := store.ListRange(t.Context(), full("l"), 0, -1)
	must(t, err)
	if len(list) != 1 || string(list[0]) != "value" {
		t.Errorf("the store's list holds %q, want the value", list)
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
	for key, left := range map[string]bool{
		"k": false, "p1": false, "h": false, "s": false,
		"l": false, "m2": true, "p2": true,
	} {
		ok, err := store.Exists(t.Context(), full(key))
		must(t, err)
		want(t, "the whole key of "+key+" exists", ok, left)
	}
	if s, ok := store.(driver.Scanner); ok { // and there is nothing else
		if got := scanned(t, s, e.prefix); len(got) != 2 {
			t.Errorf("the store's keys = %q, want those of m2 and p2",
				slices.Collect(maps.Keys(got)))
		}
	}
}

// testRefused: what cannot be encoded is refused, also by a store that would not have
// needed to.
func testRefused(t *testing.T, e *env) {
	users := e.users()
	nan := 0.0
	nan /= nan
	if err := users.Set(t.Context(), "k", &user{Rate: nan}); !errors.Is(err, xcache.ErrEncode) {
		t.Errorf("Set of NaN = %v, want ErrEncode", err)
	}
	wantGone(t, users, "k")
	must(t, users.Set(t.Context(), "k", &user{Name: "a\xffb"}))
	wantValue(t, users, "k", user{Name: "a\uFFFDb"}) // as JSON mends it
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
