package cachetest

import (
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// conditionChecks check that conditions work with all other options and that a skipped
// write changes nothing.
var conditionChecks = []check{
	{"Condition/NXWithKeepTTL", testNXKeeps},
	{"Condition/XXWithKeepTTL", testXXKeeps},
	{"Condition/FieldsWithKeepTTL", testFieldsKeep},
}

// writer writes a string to a value that may have more content.
type writer struct {
	name  string
	view  hasTTL
	write func(key, text string, opts ...xcache.Option) error
	want  func(key string, texts ...string)
}

func (e *env) writers(t *testing.T) []writer {
	t.Helper()
	texts := xcache.KeyCacheOf[string, string](e.m)
	hash := xcache.HashCacheOf[string, string, string, struct{}](e.m)
	set, list := e.words(), e.letters()
	members := func(key string, texts ...string) { t.Helper(); wantMembers(t, set, key, texts...) }
	elements := func(key string, texts ...string) {
		t.Helper()
		wantElements(t, list, key, texts...)
	}
	return []writer{
		{"Set", texts, func(key, text string, opts ...xcache.Option) error {
			return texts.Set(t.Context(), key, &text, opts...)
		}, func(key string, all ...string) {
			t.Helper()
			wantValue(t, texts, key, all[len(all)-1])
		}},
		{"HashSet", hash, func(key, text string, opts ...xcache.Option) error {
			return hash.Set(t.Context(), key, "f", &text, opts...)
		}, func(key string, all ...string) {
			t.Helper()
			got := present[string](t)(hash.Get(t.Context(), key, "f"))
			want(t, "the field", *got, all[len(all)-1])
		}},
		{"SetAdd", set, func(key, text string, opts ...xcache.Option) error {
			_, err := set.Add(t.Context(), key, []string{text}, opts...)
			return err
		}, members},
		{"ListAppend", list, func(key, text string, opts ...xcache.Option) error {
			_, err := list.Append(t.Context(), key, []string{text}, opts...)
			return err
		}, elements},
	}
}

func testNXKeeps(t *testing.T, e *env) {
	for _, w := range e.writers(t) {
		stored := true
		must(t, w.write(w.name, "a", xcache.WithTTL(20*e.unit)))
		for _, more := range [][]xcache.Option{{}, {xcache.WithTTL(5 * e.unit)}} {
			opts := append(more, xcache.WithNX(), xcache.WithKeepTTL(), xcache.WithStored(&stored))
			must(t, w.write(w.name, "b", opts...))
			want(t, w.name+" to an existing key stored", stored, false)
			w.want(w.name, "a")
			wantTTL(t, w.view, w.name, 17*e.unit, 20*e.unit)
		}
		key := w.name + " new"
		must(t, w.write(key, "b", xcache.WithNX(), xcache.WithKeepTTL(), xcache.WithTTL(10*e.unit),
			xcache.WithStored(&stored)))
		want(t, w.name+" to a missing key stored", stored, true)
		w.want(key, "b")
		wantTTL(t, w.view, key, 8*e.unit, 10*e.unit)
	}
}

func testXXKeeps(t *testing.T, e *env) {
	for _, w := range e.writers(t) {
		stored := true
		opts := []xcache.Option{
			xcache.WithXX(), xcache.WithKeepTTL(), xcache.WithTTL(5 * e.unit),
			xcache.WithStored(&stored),
		}
		must(t, w.write(w.name, "b", opts...))
		want(t, w.name+" to a missing key stored", stored, false)
		wantMissing(t, w.view, w.name)
		must(t, w.write(w.name, "a", xcache.WithTTL(20*e.unit)))
		must(t, w.write(w.name, "b", opts...))
		want(t, w.name+" to an existing key stored", stored, true)
		w.want(w.name, "a", "b")
		wantTTL(t, w.view, w.name, 17*e.unit, 20*e.unit)
	}
}

// testFieldsKeep checks a condition on fields together with WithKeepTTL.
func testFieldsKeep(t *testing.T, e *env) {
	c, stored := e.counts(), false
	must(t, c.Set(t.Context(), "h", "a", new(1), xcache.WithTTL(20*e.unit)))
	opts := []xcache.Option{
		xcache.WithNX(), xcache.WithKeepTTL(), xcache.WithTTL(5 * e.unit),
		xcache.WithStored(&stored),
	}
	must(t, c.SetAll(t.Context(), "h", map[string]int{"b": 2, "c": 3}, opts...))
	want(t, "missing fields of an existing hash stored", stored, true)
	must(t, c.SetAll(t.Context(), "h", map[string]int{"c": 9, "d": 9}, opts...))
	want(t, "fields with an existing one stored", stored, false)
	wantHash(t, c, "h", map[string]int{"a": 1, "b": 2, "c": 3})
	wantTTL(t, c, "h", 17*e.unit, 20*e.unit)
}
