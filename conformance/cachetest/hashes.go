package cachetest

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// profile is a struct that is stored as a hash.
type profile struct {
	ID    xsnowflake.SnowflakeID `cache:"id"`
	Name  string                 `cache:"name"`
	Email *string                `cache:"email"`
	Age   int                    `json:"age"`
	Note  string                 `cache:"note,omitempty"`
	Tags  []string               `cache:"tags"`
	Skip  string                 `cache:"-"`
}

var hashChecks = []check{
	{"Hash/SetGet", testHashSetGet},
	{"Hash/SetAllGetAll", testHashAll},
	{"Hash/Struct", testHashStruct},
	{"Hash/Missing", testHashMissing},
	{"Hash/Conditions", testHashConditions},
	{"Hash/Remove", testHashRemove},
	{"Hash/FieldTypes", testHashFields},
	{"Hash/WrongType", testHashWrongType},
	{"Hash/ValuesAreCopied", testHashCopies},
}

type counts = xcache.HashCache[string, string, int, profile]

func (e *env) counts() *counts { return xcache.HashCacheOf[string, string, int, profile](e.m) }

func wantHash(t testing.TB, c *counts, key string, expected map[string]int) {
	t.Helper()
	got, err := c.GetAll(t.Context(), key)
	must(t, err)
	if got == nil || !maps.Equal(got, expected) {
		t.Errorf("GetAll(%q) = %v, want %v", key, got, expected)
	}
}

func testHashSetGet(t *testing.T, e *env) {
	c := e.counts()
	must(t, c.Set(t.Context(), "h", "a", new(1)))
	must(t, c.Set(t.Context(), "h", "b", new(2)))
	must(t, c.Set(t.Context(), "h", "a", new(3)))
	got, ok, err := c.Get(t.Context(), "h", "a")
	must(t, err)
	if !ok || *got != 3 {
		t.Errorf("Get = %v, %t; want 3", got, ok)
	}
	ok, err = c.Exists(t.Context(), "h", "b")
	must(t, err)
	want(t, "Exists", ok, true)
	wantHash(t, c, "h", map[string]int{"a": 3, "b": 2})
	if err := c.Set(t.Context(), "h", "a", nil); !errors.Is(err, xcache.ErrNil) {
		t.Errorf("Set of nil = %v, want ErrNil", err)
	}
	must(t, c.Delete(t.Context(), "h"))
	wantMissing(t, c, "h")
}

func testHashAll(t *testing.T, e *env) {
	c := e.counts()
	must(t, c.SetAll(t.Context(), "h", map[string]int{"a": 1, "b": 2}))
	must(t, c.SetAll(t.Context(), "h", map[string]int{"b": 3, "c": 4}))
	wantHash(t, c, "h", map[string]int{"a": 1, "b": 3, "c": 4})
	must(t, c.SetAll(t.Context(), "h", nil))
	must(t, c.SetAll(t.Context(), "none", map[string]int{}))
	wantHash(t, c, "h", map[string]int{"a": 1, "b": 3, "c": 4})
	wantMissing(t, c, "none")
}

func testHashStruct(t *testing.T, e *env) {
	c := e.counts()
	in := profile{
		ID: 7, Name: "Ada", Email: new("a@b"), Age: 36, Note: "n",
		Tags: []string{"x"}, Skip: "never",
	}
	must(t, c.SetAllStruct(t.Context(), "p", &in))
	got, ok, err := c.GetAllStruct(t.Context(), "p")
	must(t, err)
	in.Skip = "" // it is not stored
	if !ok || !reflect.DeepEqual(*got, in) {
		t.Errorf("GetAllStruct = %+v, %t; want %+v", got, ok, in)
	}
	n, ok, err := c.Get(t.Context(), "p", "age")
	must(t, err)
	if !ok || *n != 36 {
		t.Errorf("Get of a struct field = %v, %t; want 36", n, ok)
	}
	must(t, c.Set(t.Context(), "p", "other", new(1)))
	must(t, c.SetAllStruct(t.Context(), "p", &profile{Name: "Bob"})) // removes Email and Note
	got = present[profile](t)(c.GetAllStruct(t.Context(), "p"))
	if got.Name != "Bob" || got.Email != nil || got.Note != "" || got.Age != 0 {
		t.Errorf("GetAllStruct after a second write = %+v, want only Bob", got)
	}
	ok, err = c.Exists(t.Context(), "p", "email")
	must(t, err)
	want(t, "field of a nil pointer exists", ok, false)
	ok, err = c.Exists(t.Context(), "p", "other")
	must(t, err)
	want(t, "unknown field exists", ok, true)
	if err := c.SetAllStruct(t.Context(), "p", nil); !errors.Is(err, xcache.ErrNil) {
		t.Errorf("SetAllStruct of nil = %v, want ErrNil", err)
	}
}

func testHashMissing(t *testing.T, e *env) {
	c := e.counts()
	wantHash(t, c, "none", map[string]int{})
	s, ok, err := c.GetAllStruct(t.Context(), "none")
	must(t, err)
	if s != nil || ok {
		t.Errorf("GetAllStruct of a missing key = %v, %t; want nil, false", s, ok)
	}
	v, ok, err := c.Get(t.Context(), "none", "f")
	must(t, err)
	if v != nil || ok {
		t.Errorf("Get of a missing key = %v, %t; want nil, false", v, ok)
	}
	must(t, c.Set(t.Context(), "h", "a", new(1)))
	_, ok, err = c.Get(t.Context(), "h", "f")
	must(t, err)
	want(t, "missing field found", ok, false)
	n, err := c.Remove(t.Context(), "none", "f")
	must(t, err)
	want(t, "removed from a missing key", n, 0)
	wantMissing(t, c, "none")
	wantHash(t, c, "h", map[string]int{"a": 1})
}

func testHashConditions(t *testing.T, e *env) {
	c := e.counts()
	stored := true
	must(t, c.Set(t.Context(), "h", "a", new(1), xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "XX stored a missing field", stored, false)
	wantMissing(t, c, "h")
	must(t, c.Set(t.Context(), "h", "a", new(1), xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored a missing field", stored, true)
	must(t, c.Set(t.Context(), "h", "a", new(2), xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored an existing field", stored, false)
	must(t, c.Set(t.Context(), "h", "b", new(2), xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored a missing field of an existing hash", stored, true)
	must(t, c.SetAll(t.Context(), "h", map[string]int{"b": 9, "c": 9},
		xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "NX stored fields with an existing one", stored, false)
	must(t, c.SetAll(t.Context(), "h", map[string]int{"b": 9, "c": 9},
		xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "XX stored fields with a missing one", stored, false)
	wantHash(t, c, "h", map[string]int{"a": 1, "b": 2})
	must(t, c.SetAll(t.Context(), "h", map[string]int{"a": 3, "b": 4},
		xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "XX stored existing fields", stored, true)
	wantHash(t, c, "h", map[string]int{"a": 3, "b": 4})
}

func testHashRemove(t *testing.T, e *env) {
	c := e.counts()
	must(t, c.SetAll(t.Context(), "h", map[string]int{"a": 1, "b": 2, "c": 3}))
	n, err := c.Remove(t.Context(), "h", "a", "none", "a")
	must(t, err)
	want(t, "removed", n, 1)
	n, err = c.Remove(t.Context(), "h")
	must(t, err)
	want(t, "removed without fields", n, 0)
	wantHash(t, c, "h", map[string]int{"b": 2, "c": 3})
	n, err = c.Remove(t.Context(), "h", "b", "c")
	must(t, err)
	want(t, "removed", n, 2)
	wantMissing(t, c, "h")
}

func testHashFields(t *testing.T, e *env) {
	ids := xcache.HashCacheOf[int, xsnowflake.SnowflakeID, string, struct{}](e.m)
	values := map[xsnowflake.SnowflakeID]string{5: "five", 1 << 40: "big"}
	must(t, ids.SetAll(t.Context(), 1, values))
	got, err := ids.GetAll(t.Context(), 1)
	must(t, err)
	if !maps.Equal(got, values) {
		t.Errorf("GetAll = %v, want %v", got, values)
	}
	special := e.counts()
	fields := map[string]int{"": 1, "a\nb": 2, "*?[x]": 3, "\x00\xff": 4}
	must(t, special.SetAll(t.Context(), "special", fields))
	wantHash(t, special, "special", fields)
	numbers := xcache.HashCacheOf[string, int, int, struct{}](e.m)
	if _, err := numbers.GetAll(t.Context(), "special"); !errors.Is(err, xcache.ErrDecode) {
		t.Errorf("GetAll with fields of another type = %v, want ErrDecode", err)
	}
}

func testHashWrongType(t *testing.T, e *env) {
	must(t, e.users().Set(t.Context(), "k", &user{ID: 1}))
	c := e.counts()
	_, _, getErr := c.Get(t.Context(), "k", "a")
	_, allErr := c.GetAll(t.Context(), "k")
	_, _, structErr := c.GetAllStruct(t.Context(), "k")
	_, existsErr := c.Exists(t.Context(), "k", "a")
	_, removeErr := c.Remove(t.Context(), "k", "a")
	for name, err := range map[string]error{
		"Get": getErr, "GetAll": allErr, "GetAllStruct": structErr, "Exists": existsErr,
		"Remove": removeErr,
		"Set":    c.Set(t.Context(), "k", "a", new(1)),
		"SetAll": c.SetAll(t.Context(), "k", map[string]int{"a": 1}),
	} {
		if !errors.Is(err, xcache.ErrWrongType) {
			t.Errorf("%s on a plain value = %v, want ErrWrongType", name, err)
		}
	}
	wantValue(t, e.users(), "k", user{ID: 1})
}

func testHashCopies(t *testing.T, e *env) {
	c := xcache.HashCacheOf[string, string, []byte, struct{}](e.m)
	b := []byte("abc")
	must(t, c.Set(t.Context(), "h", "f", &b))
	b[0] = 'x'
	for range 2 {
		got := present[[]byte](t)(c.Get(t.Context(), "h", "f"))
		want(t, "value", string(*got), "abc")
		(*got)[0] = 'y'
		all, err := c.GetAll(t.Context(), "h")
		must(t, err)
		want(t, "value of GetAll", string(all["f"]), "abc")
		clear(all["f"])
		all["g"] = nil
		want(t, "fields", len(all), 2)
	}
}
