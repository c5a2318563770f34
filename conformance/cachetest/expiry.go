package cachetest

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

var expiryChecks = []check{
	{"Expiry/TTL", testExpiryTTL},
	{"Expiry/ZeroTTL", testExpiryZero},
	{"Expiry/NegativeTTL", testExpiryNegative},
	{"Expiry/OneMillisecond", testExpiryMillisecond},
	{"Expiry/Years", testExpiryYears},
	{"Expiry/Defaults", testExpiryDefaults},
	{"Expiry/Jitter", testExpiryJitter},
	{"Expiry/SetReplacesTTL", testExpirySet},
	{"Expiry/KeepTTL", testExpiryKeep},
	{"Expiry/UpdatesSlide", testExpirySlide},
	{"Expiry/NoSlide", testExpiryNoSlide},
	{"Expiry/UpdateWithoutTTL", testExpiryUpdateWithoutTTL},
	{"Expiry/RemoveKeepsTTL", testExpiryRemove},
	{"Expiry/SkippedUpdateKeepsTTL", testExpirySkipped},
	{"Expiry/NXAfterExpiry", testExpiryNX},
	{"Expiry/ExpiredCollection", testExpiryCollections},
}

func testExpiryTTL(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{ID: 1}, xcache.WithTTL(4*e.unit)))
	wantTTL(t, users, "a", 2*e.unit, 4*e.unit)
	e.advance(2 * e.unit)
	wantValue(t, users, "a", user{ID: 1})
	wantTTL(t, users, "a", 0, 2*e.unit)
	e.advance(3 * e.unit)
	_, ok, err := users.Get(t.Context(), "a")
	must(t, err)
	want(t, "found after expiry", ok, false)
	ok, err = users.Exists(t.Context(), "a")
	must(t, err)
	want(t, "exists after expiry", ok, false)
	wantMissing(t, users, "a")
	n, err := users.DeleteMany(t.Context(), []string{"a"})
	must(t, err)
	want(t, "removed after expiry", n, 0)
}

func testExpiryZero(t *testing.T, e *env) {
	c := xcache.KeyCacheOf[string, user](e.m, xcache.WithViewTTL(2*e.unit))
	must(t, c.Set(t.Context(), "a", &user{ID: 1}, xcache.WithTTL(0)))
	wantTTL(t, c, "a", 0, 0)
	h := xcache.HashCacheOf[string, string, int, struct{}](e.m, xcache.WithViewTTL(2*e.unit))
	must(t, h.Set(t.Context(), "h", "f", new(1)))
	wantTTL(t, h, "h", 0, 2*e.unit)
	must(t, h.Set(t.Context(), "h", "g", new(1), xcache.WithTTL(0)))
	wantTTL(t, h, "h", 0, 0)
	e.advance(3 * e.unit)
	wantValue(t, c, "a", user{ID: 1})
	wantTTL(t, h, "h", 0, 0)
}

func testExpiryNegative(t *testing.T, e *env) {
	must(t, e.users().Set(t.Context(), "a", &user{ID: 1}))
	err := e.users().Set(t.Context(), "a", &user{ID: 2}, xcache.WithTTL(-1))
	if !errors.Is(err, xcache.ErrOption) {
		t.Errorf("Set with a negative TTL = %v, want ErrOption", err)
	}
	wantValue(t, e.users(), "a", user{ID: 1})
	negative := xcache.WithTTL(-time.Hour)
	_, addErr := e.words().Add(t.Context(), "s", []string{"a"}, negative)
	_, appendErr := e.letters().Append(t.Context(), "l", []string{"a"}, negative)
	_, prependErr := e.letters().Prepend(t.Context(), "l", []string{"a"}, negative)
	for name, err := range map[string]error{
		"SetMany":      e.users().SetMany(t.Context(), map[string]user{"b": {}}, negative),
		"Hash.Set":     e.counts().Set(t.Context(), "h", "f", new(1), negative),
		"SetAll":       e.counts().SetAll(t.Context(), "h", map[string]int{"f": 1}, negative),
		"SetAllStruct": e.counts().SetAllStruct(t.Context(), "h", &profile{}, negative),
		"Add":          addErr,
		"Append":       appendErr,
		"Prepend":      prependErr,
	} {
		if !errors.Is(err, xcache.ErrOption) {
			t.Errorf("%s with a negative TTL = %v, want ErrOption", name, err)
		}
	}
	for _, key := range []string{"b", "h", "s", "l"} {
		wantMissing(t, e.users(), key)
	}
}

func testExpiryMillisecond(t *testing.T, e *env) {
	users := e.users()
	for name, ttl := range map[string]time.Duration{"ms": time.Millisecond, "ns": 1} {
		must(t, users.Set(t.Context(), name, &user{}, xcache.WithTTL(ttl)))
	}
	must(t, users.SetMany(t.Context(), map[string]user{"many": {}},
		xcache.WithTTL(time.Millisecond)))
	for name, update := range e.updates() {
		update(t, name, xcache.WithTTL(time.Millisecond))
	}
	must(t, users.Set(t.Context(), "long", &user{ID: 1}, xcache.WithTTL(100*e.unit)))
	e.advance(e.unit)
	for _, name := range []string{"ms", "ns", "many"} {
		wantMissing(t, users, name)
	}
	for name := range e.updates() {
		wantMissing(t, users, name)
	}
	wantValue(t, users, "long", user{ID: 1})
}

func testExpiryYears(t *testing.T, e *env) {
	const year = 365 * 24 * time.Hour
	users := e.users()
	for name, ttl := range map[string]time.Duration{"one": year, "hundred": 100 * year} {
		must(t, users.Set(t.Context(), name, &user{ID: 1}, xcache.WithTTL(ttl)))
		wantTTL(t, users, name, ttl-time.Hour, ttl)
		wantValue(t, users, name, user{ID: 1})
	}
	must(t, users.Set(t.Context(), "max", &user{ID: 1}, xcache.WithTTL(math.MaxInt64)))
	must(t, users.Set(t.Context(), "max", &user{ID: 2},
		xcache.WithKeepTTL(), xcache.WithTTL(math.MaxInt64)))
	must(t, users.SetMany(t.Context(), map[string]user{"many": {ID: 2}},
		xcache.WithTTL(math.MaxInt64)))
	wantValue(t, users, "max", user{ID: 2})
	wantValue(t, users, "many", user{ID: 2})
	for name, update := range e.updates() {
		for _, opts := range [][]xcache.Option{{}, {xcache.WithNoSlide()}} {
			key := fmt.Sprint(name, len(opts))
			view := update(t, key, append(opts, xcache.WithTTL(100*year))...)
			wantTTL(t, view, key, 99*year, 100*year)
			update(t, key, xcache.WithTTL(math.MaxInt64))
			ok, err := users.Exists(t.Context(), key)
			must(t, err)
			want(t, name+" with the longest TTL exists", ok, true)
		}
	}
}

func testExpiryDefaults(t *testing.T, e *env) {
	m := e.open(t, xcache.WithDefaultTTL(10*e.unit))
	plain := xcache.KeyCacheOf[string, int](m)
	must(t, plain.Set(t.Context(), "m", new(1)))
	wantTTL(t, plain, "m", 8*e.unit, 10*e.unit)
	view := xcache.KeyCacheOf[string, int](m, xcache.WithViewTTL(20*e.unit))
	must(t, view.Set(t.Context(), "v", new(1)))
	wantTTL(t, view, "v", 18*e.unit, 20*e.unit)
	must(t, view.Set(t.Context(), "v", new(1), xcache.WithTTL(30*e.unit)))
	wantTTL(t, view, "v", 28*e.unit, 30*e.unit)
	list := xcache.ListCacheOf[string, int](m)
	_, err := list.Append(t.Context(), "l", []int{1})
	must(t, err)
	wantTTL(t, list, "l", 8*e.unit, 10*e.unit)
}

func testExpiryJitter(t *testing.T, e *env) {
	c := xcache.KeyCacheOf[int, int](e.open(t, xcache.WithTTLJitter(0.5)),
		xcache.WithViewTTL(time.Hour))
	many := map[int]int{}
	seen := map[time.Duration]bool{}
	for i := range 20 {
		must(t, c.Set(t.Context(), i, new(i)))
		many[100+i] = i
	}
	must(t, c.SetMany(t.Context(), many))
	for i := range 20 {
		for _, key := range []int{i, 100 + i} {
			ttl, ok, err := c.TTL(t.Context(), key)
			must(t, err)
			if !ok || ttl < 29*time.Minute || ttl > time.Hour {
				t.Fatalf("TTL = %s, %t; want half an hour to an hour", ttl, ok)
			}
			seen[ttl.Round(time.Second)] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("40 keys have %d different TTLs, want more", len(seen))
	}
}

func testExpirySet(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{}, xcache.WithTTL(2*e.unit)))
	must(t, users.Set(t.Context(), "a", &user{}, xcache.WithTTL(20*e.unit)))
	wantTTL(t, users, "a", 18*e.unit, 20*e.unit)
	must(t, users.Set(t.Context(), "a", &user{}, xcache.WithTTL(5*e.unit)))
	wantTTL(t, users, "a", 3*e.unit, 5*e.unit)
	must(t, users.Set(t.Context(), "a", &user{}))
	wantTTL(t, users, "a", 0, 0)
}

func testExpiryKeep(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{ID: 1}, xcache.WithTTL(10*e.unit)))
	e.advance(2 * e.unit)
	must(t, users.Set(t.Context(), "a", &user{ID: 2},
		xcache.WithKeepTTL(), xcache.WithTTL(99*e.unit)))
	wantTTL(t, users, "a", 5*e.unit, 8*e.unit)
	wantValue(t, users, "a", user{ID: 2})
	must(t, users.Set(t.Context(), "new", &user{}, xcache.WithKeepTTL(), xcache.WithTTL(10*e.unit)))
	wantTTL(t, users, "new", 8*e.unit, 10*e.unit)
	must(t, users.Set(t.Context(), "permanent", &user{}))
	must(t, users.Set(t.Context(), "permanent", &user{},
		xcache.WithKeepTTL(), xcache.WithTTL(10*e.unit)))
	wantTTL(t, users, "permanent", 0, 0)
	e.advance(9 * e.unit)
	wantMissing(t, users, "a")
	must(t, users.Set(t.Context(), "a", &user{}, xcache.WithKeepTTL(), xcache.WithTTL(3*e.unit)))
	wantTTL(t, users, "a", e.unit, 3*e.unit)
}

// updates returns the writes to collections by name. They renew the TTL of the key.
func (e *env) updates() map[string]func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
	return map[string]func(t testing.TB, key string, opts ...xcache.Option) hasTTL{
		"HashSet": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			must(t, e.counts().Set(t.Context(), key, "f", new(1), opts...))
			return e.counts()
		},
		"HashSetAll": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			must(t, e.counts().SetAll(t.Context(), key, map[string]int{"f": 1, "g": 2}, opts...))
			return e.counts()
		},
		"HashSetAllStruct": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			must(t, e.counts().SetAllStruct(t.Context(), key, &profile{}, opts...))
			return e.counts()
		},
		"SetAdd": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			_, err := e.words().Add(t.Context(), key, []string{"a"}, opts...)
			must(t, err)
			return e.words()
		},
		"ListPrepend": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			_, err := e.letters().Prepend(t.Context(), key, []string{"a"}, opts...)
			must(t, err)
			return e.letters()
		},
		"ListAppend": func(t testing.TB, key string, opts ...xcache.Option) hasTTL {
			_, err := e.letters().Append(t.Context(), key, []string{"a"}, opts...)
			must(t, err)
			return e.letters()
		},
	}
}

func testExpirySlide(t *testing.T, e *env) {
	for name, update := range e.updates() {
		update(t, name, xcache.WithTTL(10*e.unit))
	}
	e.advance(4 * e.unit)
	for name, update := range e.updates() {
		v := update(t, name, xcache.WithTTL(10*e.unit))
		wantTTL(t, v, name, 8*e.unit, 10*e.unit)
		update(t, name, xcache.WithTTL(3*e.unit)) // also to a shorter TTL
		wantTTL(t, v, name, e.unit, 3*e.unit)
	}
}

func testExpiryNoSlide(t *testing.T, e *env) {
	for name, update := range e.updates() {
		update(t, name, xcache.WithTTL(10*e.unit), xcache.WithNoSlide())
	}
	e.advance(4 * e.unit)
	for name, update := range e.updates() {
		v := update(t, name, xcache.WithTTL(10*e.unit), xcache.WithNoSlide())
		wantTTL(t, v, name, 3*e.unit, 6*e.unit)
	}
	e.advance(7 * e.unit)
	for name := range e.updates() {
		wantMissing(t, e.counts(), name)
	}
}

// testExpiryUpdateWithoutTTL checks that an update without any TTL keeps the TTL of a
// collection.
func testExpiryUpdateWithoutTTL(t *testing.T, e *env) {
	for name, update := range e.updates() {
		update(t, name, xcache.WithTTL(10*e.unit))
		wantTTL(t, update(t, name), name, 8*e.unit, 10*e.unit)
		wantTTL(t, update(t, name+"2"), name+"2", 0, 0)
	}
}

func testExpiryRemove(t *testing.T, e *env) {
	ttl := xcache.WithTTL(10 * e.unit)
	hash, set, list := e.counts(), e.words(), e.letters()
	must(t, hash.SetAll(t.Context(), "h", map[string]int{"a": 1, "b": 2}, ttl))
	_, err := set.Add(t.Context(), "s", []string{"a", "b"}, ttl)
	must(t, err)
	_, err = list.Append(t.Context(), "l", []string{"a", "b", "c", "d"}, ttl)
	must(t, err)
	e.advance(4 * e.unit)
	_, err = hash.Remove(t.Context(), "h", "a")
	must(t, err)
	_, err = set.Remove(t.Context(), "s", "a")
	must(t, err)
	_, err = list.Remove(t.Context(), "l", 1, "a")
	must(t, err)
	_, _, err = list.Pop(t.Context(), "l")
	must(t, err)
	_, _, err = list.PopLast(t.Context(), "l")
	must(t, err)
	wantTTL(t, hash, "h", 3*e.unit, 6*e.unit)
	wantTTL(t, set, "s", 3*e.unit, 6*e.unit)
	wantTTL(t, list, "l", 3*e.unit, 6*e.unit)
	e.advance(7 * e.unit)
	for _, key := range []string{"h", "s", "l"} {
		wantMissing(t, hash, key)
	}
}

func testExpirySkipped(t *testing.T, e *env) {
	for name, update := range e.updates() {
		v := update(t, name, xcache.WithTTL(10*e.unit))
		stored := true
		update(t, name, xcache.WithTTL(99*e.unit), xcache.WithNX(), xcache.WithStored(&stored))
		want(t, name+" stored", stored, false)
		wantTTL(t, v, name, 8*e.unit, 10*e.unit)
	}
	must(t, e.users().Set(t.Context(), "k", &user{}, xcache.WithTTL(10*e.unit)))
	must(t, e.users().Set(t.Context(), "k", &user{}, xcache.WithTTL(99*e.unit), xcache.WithNX()))
	wantTTL(t, e.users(), "k", 8*e.unit, 10*e.unit)
}

func testExpiryNX(t *testing.T, e *env) {
	stored := false
	must(t, e.users().Set(t.Context(), "k", &user{ID: 1}, xcache.WithTTL(e.unit)))
	e.advance(2 * e.unit)
	must(t, e.users().Set(t.Context(), "k", &user{ID: 2},
		xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "XX stored after expiry", stored, false)
	must(t, e.users().Set(t.Context(), "k", &user{ID: 3},
		xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored after expiry", stored, true)
	wantValue(t, e.users(), "k", user{ID: 3})
	wantTTL(t, e.users(), "k", 0, 0)
}

func testExpiryCollections(t *testing.T, e *env) {
	for name, update := range e.updates() {
		update(t, name, xcache.WithTTL(e.unit))
	}
	e.advance(2 * e.unit)
	wantHash(t, e.counts(), "HashSet", map[string]int{})
	wantMembers(t, e.words(), "SetAdd")
	wantElements(t, e.letters(), "ListAppend")
	n, err := e.letters().Append(t.Context(), "ListAppend", []string{"new"}, xcache.WithNoSlide())
	must(t, err)
	want(t, "length of the new list", n, 1)
	must(t, e.counts().Set(t.Context(), "HashSetAll", "new", new(1)))
	wantHash(t, e.counts(), "HashSetAll", map[string]int{"new": 1})
	must(t, e.users().Set(t.Context(), "SetAdd", &user{ID: 1})) // the key may change its kind
	wantValue(t, e.users(), "SetAdd", user{ID: 1})
}
