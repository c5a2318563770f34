package cachetest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
)

// user is a value without references, item a value with references.
type user struct {
	ID   int64
	Name string
	Rate float64
}

type item struct {
	Name string
	Tags []string
	Next *item
}

var keyChecks = []check{
	{"Key/SetGet", testKeySetGet},
	{"Key/Missing", testKeyMissing},
	{"Key/ExistsAndDelete", testKeyExistsDelete},
	{"Key/NX", testKeyNX},
	{"Key/XX", testKeyXX},
	{"Key/Nil", testKeyNil},
	{"Key/ValueTypes", testKeyValueTypes},
	{"Key/KeyTypes", testKeyKeyTypes},
	{"Key/Many", testKeyMany},
	{"Key/ValuesAreCopied", testKeyCopies},
	{"Key/ViewsOfOtherTypes", testKeyOtherTypes},
	{"Key/WrongType", testKeyWrongType},
	{"Key/CanceledContext", testKeyCanceled},
}

// users returns a view of values without references.
func (e *env) users() *xcache.KeyCache[string, user] { return xcache.KeyCacheOf[string, user](e.m) }

// items returns a view of values with references.
func (e *env) items() *xcache.KeyCache[string, item] { return xcache.KeyCacheOf[string, item](e.m) }

// wantValue fails the test unless the view has the value.
func wantValue[V comparable](t testing.TB, c *xcache.KeyCache[string, V], key string, expected V) {
	t.Helper()
	got, ok, err := c.Get(t.Context(), key)
	must(t, err)
	if !ok || got == nil || *got != expected {
		t.Errorf("Get(%q) = %v, %t; want %v", key, got, ok, expected)
	}
}

func testKeySetGet(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{1, "Ada", 0.5}))
	must(t, users.Set(t.Context(), "b", &user{2, "größe 漢字", -1}))
	wantValue(t, users, "a", user{1, "Ada", 0.5})
	wantValue(t, users, "b", user{2, "größe 漢字", -1})
	must(t, users.Set(t.Context(), "a", &user{3, "", 0}))
	wantValue(t, users, "a", user{3, "", 0})

	items := e.items()
	must(t, items.Set(t.Context(), "i",
		&item{Name: "x", Tags: []string{"1", "2"}, Next: &item{Name: "y"}}))
	got, ok, err := items.Get(t.Context(), "i")
	must(t, err)
	if !ok || got.Name != "x" || got.Next == nil || got.Next.Name != "y" || len(got.Tags) != 2 {
		t.Errorf("Get = %+v, %t; want the stored value", got, ok)
	}
}

func testKeyMissing(t *testing.T, e *env) {
	got, ok, err := e.users().Get(t.Context(), "none")
	must(t, err)
	if got != nil || ok {
		t.Errorf("Get of a missing key = %v, %t; want nil, false", got, ok)
	}
	must(t, e.users().Delete(t.Context(), "none"))
	wantMissing(t, e.users(), "none")
	must(t, e.users().Set(t.Context(), "some", &user{ID: 1}))
	wantValue(t, e.users(), "some", user{ID: 1})
}

func testKeyExistsDelete(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{}))
	ok, err := users.Exists(t.Context(), "a")
	must(t, err)
	want(t, "Exists", ok, true)
	must(t, users.Delete(t.Context(), "a"))
	ok, err = users.Exists(t.Context(), "a")
	must(t, err)
	want(t, "Exists after Delete", ok, false)
	_, ok, err = users.Get(t.Context(), "a")
	must(t, err)
	want(t, "found after Delete", ok, false)
}

func testKeyNX(t *testing.T, e *env) {
	users := e.users()
	stored := false
	must(t, users.Set(t.Context(), "a", &user{ID: 1}, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "stored for a missing key", stored, true)
	must(t, users.Set(t.Context(), "a", &user{ID: 2}, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "stored for an existing key", stored, false)
	wantValue(t, users, "a", user{ID: 1})
	must(t, users.Set(t.Context(), "a", &user{ID: 2}, xcache.WithNX(), xcache.WithKeepTTL(),
		xcache.WithTTL(e.unit), xcache.WithStored(&stored)))
	want(t, "stored for an existing key with KeepTTL", stored, false)
	wantValue(t, users, "a", user{ID: 1})
	must(t, users.Set(t.Context(), "new", &user{ID: 2}, xcache.WithNX(), xcache.WithKeepTTL(),
		xcache.WithTTL(e.unit), xcache.WithStored(&stored)))
	want(t, "stored for a missing key with KeepTTL", stored, true)
	wantTTL(t, users, "new", 0, e.unit)
	must(t, users.Set(t.Context(), "b", &user{ID: 3}, xcache.WithStored(&stored)))
	want(t, "stored without a condition", stored, true)
}

func testKeyXX(t *testing.T, e *env) {
	users := e.users()
	stored := true
	must(t, users.Set(t.Context(), "a", &user{ID: 1}, xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "stored for a missing key", stored, false)
	wantMissing(t, users, "a")
	must(t, users.Set(t.Context(), "a", &user{ID: 2}))
	must(t, users.Set(t.Context(), "a", &user{ID: 3}, xcache.WithXX(), xcache.WithStored(&stored)))
	want(t, "stored for an existing key", stored, true)
	wantValue(t, users, "a", user{ID: 3})
	err := users.Set(t.Context(), "a", &user{},
		xcache.WithNX(), xcache.WithXX(), xcache.WithStored(&stored))
	if !errors.Is(err, xcache.ErrOption) || stored {
		t.Errorf("NX with XX: err = %v, stored = %t; want ErrOption, false", err, stored)
	}
}

func testKeyNil(t *testing.T, e *env) {
	users := e.users()
	must(t, users.Set(t.Context(), "a", &user{ID: 1}))
	if err := users.Set(t.Context(), "a", nil); !errors.Is(err, xcache.ErrNil) {
		t.Errorf("Set of nil = %v, want ErrNil", err)
	}
	wantValue(t, users, "a", user{ID: 1})
}

func testKeyValueTypes(t *testing.T, e *env) {
	roundTrip(t, e, "string with \x00 and \xff")
	roundTrip(t, e, "")
	roundTrip(t, e, int64(-1<<63))
	roundTrip(t, e, uint8(255))
	roundTrip(t, e, true)
	roundTrip(t, e, 1.5)
	roundTrip(t, e, [2]string{"a", "b"})
	roundTrip(t, e, xsnowflake.SnowflakeID(1<<62))
	data := xcache.KeyCacheOf[string, []byte](e.m)
	for _, b := range [][]byte{{}, {0, 1, 0xff}, []byte("null")} {
		must(t, data.Set(t.Context(), "b", &b))
		got, ok, err := data.Get(t.Context(), "b")
		must(t, err)
		if !ok || !bytes.Equal(*got, b) {
			t.Errorf("Get = %v, %t; want %v", got, ok, b)
		}
	}
}

func roundTrip[V comparable](t *testing.T, e *env, v V) {
	t.Helper()
	c := xcache.KeyCacheOf[string, V](e.m)
	must(t, c.Set(t.Context(), "v", &v))
	wantValue(t, c, "v", v)
}

// level is a key with a String method.
type level int

func (l level) String() string { return "level-" + strconv.Itoa(int(l)) }

func testKeyKeyTypes(t *testing.T, e *env) {
	must(t, xcache.KeyCacheOf[int, string](e.m).Set(t.Context(), -5, new("int")))
	must(t, xcache.KeyCacheOf[uint64, string](e.m).Set(t.Context(), 1<<63, new("uint")))
	must(t, xcache.KeyCacheOf[level, string](e.m).Set(t.Context(), 1, new("stringer")))
	must(t, xcache.KeyCacheOf[xsnowflake.SnowflakeID, string](e.m).Set(t.Context(), 42, new("id")))
	texts := xcache.KeyCacheOf[string, string](e.m)
	wantValue(t, texts, "-5", "int")
	wantValue(t, texts, "9223372036854775808", "uint")
	wantValue(t, texts, "level-1", "stringer")
	wantValue(t, texts, "42", "id")
}

func testKeyMany(t *testing.T, e *env) {
	users := e.users()
	in := map[string]user{"a": {ID: 1}, "b": {ID: 2}, "c": {ID: 3}}
	must(t, users.SetMany(t.Context(), in, xcache.WithTTL(10*e.unit)))
	wantTTL(t, users, "b", 8*e.unit, 10*e.unit)
	_, err := xcache.SetCacheOf[string, int](e.m).Add(t.Context(), "set", []int{1})
	must(t, err)
	got, err := users.GetMany(t.Context(), []string{"c", "none", "a", "set", "b", "a"})
	must(t, err)
	if !maps.Equal(got, in) {
		t.Errorf("GetMany = %v, want %v", got, in)
	}
	n, err := users.DeleteMany(t.Context(), []string{"a", "none", "c"})
	must(t, err)
	want(t, "removed", n, 2)
	got, err = users.GetMany(t.Context(), []string{"a", "b", "c"})
	must(t, err)
	if !maps.Equal(got, map[string]user{"b": {ID: 2}}) {
		t.Errorf("GetMany after DeleteMany = %v, want b only", got)
	}
	must(t, users.SetMany(t.Context(), nil))
	if err := users.SetMany(t.Context(), in, xcache.WithNX()); !errors.Is(err, xcache.ErrOption) {
		t.Errorf("SetMany with NX = %v, want ErrOption", err)
	}
}

func testKeyCopies(t *testing.T, e *env) {
	users, items := e.users(), e.items()
	u := user{ID: 1}
	must(t, users.Set(t.Context(), "u", &u))
	u.ID = 2
	wantValue(t, users, "u", user{ID: 1})
	present[user](t)(users.Get(t.Context(), "u")).ID = 3
	wantValue(t, users, "u", user{ID: 1})

	i := item{Tags: []string{"a"}, Next: &item{Name: "n"}}
	must(t, items.Set(t.Context(), "i", &i))
	i.Tags[0], i.Next.Name = "changed", "changed"
	for range 2 {
		got, ok, err := items.Get(t.Context(), "i")
		must(t, err)
		if !ok || got.Tags[0] != "a" || got.Next.Name != "n" {
			t.Fatalf("Get = %+v, %t; want the stored value", got, ok)
		}
		got.Tags[0], got.Next.Name = "changed", "changed"
	}

	data := xcache.KeyCacheOf[string, []byte](e.m)
	b := []byte("abc")
	must(t, data.Set(t.Context(), "b", &b))
	b[0] = 'x'
	for range 2 {
		got := present[[]byte](t)(data.Get(t.Context(), "b"))
		want(t, "bytes", string(*got), "abc")
		(*got)[0] = 'y'
	}
}

func testKeyOtherTypes(t *testing.T, e *env) {
	type part struct{ Name string }
	must(t, e.users().Set(t.Context(), "a", &user{1, "Ada", 2}))
	wantValue(t, xcache.KeyCacheOf[string, part](e.m), "a", part{"Ada"})
	wantValue(t, xcache.KeyCacheOf[string, string](e.m), "a", `{"ID":1,"Name":"Ada","Rate":2}`)
	must(t, e.items().Set(t.Context(), "b", &item{Name: "Bob"}))
	wantValue(t, xcache.KeyCacheOf[string, part](e.m), "b", part{"Bob"})
	_, ok, err := xcache.KeyCacheOf[string, int](e.m).Get(t.Context(), "a")
	if ok || !errors.Is(err, xcache.ErrDecode) {
		t.Errorf("Get as another type = %t, %v; want ErrDecode", ok, err)
	}
}

func testKeyWrongType(t *testing.T, e *env) {
	_, err := xcache.ListCacheOf[string, int](e.m).Append(t.Context(), "list", []int{1})
	must(t, err)
	for name, c := range map[string]interface {
		Get(ctx context.Context, key string) (*user, bool, error)
	}{"plain": e.users(), "shared": xcache.KeyCacheOf[string, user](e.m, xcache.WithImmutable())} {
		_, ok, err := c.Get(t.Context(), "list")
		if ok || !errors.Is(err, xcache.ErrWrongType) {
			t.Errorf("%s: Get of a list = %t, %v; want ErrWrongType", name, ok, err)
		}
	}
	_, _, err = e.items().Get(t.Context(), "list")
	if !errors.Is(err, xcache.ErrWrongType) ||
		xerror.From(err).GetErrorCode() != xerror.CacheError {
		t.Errorf("Get of a list = %v with code %v; want ErrWrongType, CacheError",
			err, xerror.From(err).GetErrorCode())
	}
	ok, err := e.users().Exists(t.Context(), "list")
	must(t, err)
	want(t, "Exists of a wrong type", ok, true)
	must(t, e.users().Set(t.Context(), "list", &user{ID: 1})) // like SET
	wantValue(t, e.users(), "list", user{ID: 1})
	must(t, e.users().Delete(t.Context(), "list"))
}

func testKeyCanceled(t *testing.T, e *env) {
	must(t, e.users().Set(t.Context(), "a", &user{ID: 1}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok, err := e.users().Get(ctx, "a")
	if ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Get = %t, %v; want the context error", ok, err)
	}
	if code := xerror.From(err).GetErrorCode(); code == xerror.CacheError {
		t.Error("a context error must not be a CacheError")
	}
	if err := e.users().Set(ctx, "a", &user{ID: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("Set = %v, want the context error", err)
	}
	if err := e.users().Delete(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete = %v, want the context error", err)
	}
	wantValue(t, e.users(), "a", user{ID: 1})
}
