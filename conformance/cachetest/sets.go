package cachetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

var setChecks = []check{
	{"Set/AddAndMembers", testSetAdd},
	{"Set/Missing", testSetMissing},
	{"Set/Conditions", testSetConditions},
	{"Set/Remove", testSetRemove},
	{"Set/WrongType", testSetWrongType},
}

type words = xcache.SetCache[string, string]

func (e *env) words() *words { return xcache.SetCacheOf[string, string](e.m) }

func wantMembers(t testing.TB, c *words, key string, expected ...string) {
	t.Helper()
	got, err := c.Members(t.Context(), key)
	must(t, err)
	if got == nil {
		t.Error("Members = nil, want an empty list")
	}
	slices.Sort(got)
	wantList(t, "Members", got, expected)
	n, err := c.Count(t.Context(), key)
	must(t, err)
	want(t, "Count", n, len(expected))
}

func testSetAdd(t *testing.T, e *env) {
	c := e.words()
	n, err := c.Add(t.Context(), "s", []string{"b", "a", "b"})
	must(t, err)
	want(t, "added", n, 2)
	n, err = c.Add(t.Context(), "s", []string{"a", "c", ""})
	must(t, err)
	want(t, "added", n, 2)
	n, err = c.Add(t.Context(), "none", nil)
	must(t, err)
	want(t, "added without members", n, 0)
	wantMissing(t, c, "none")
	wantMembers(t, c, "s", "", "a", "b", "c")
	for member, in := range map[string]bool{"a": true, "": true, "z": false} {
		ok, err := c.IsMember(t.Context(), "s", member)
		must(t, err)
		want(t, "IsMember "+member, ok, in)
	}
	structs := xcache.SetCacheOf[string, user](e.m)
	_, err = structs.Add(t.Context(), "u", []user{{ID: 1}, {ID: 2}, {ID: 1}})
	must(t, err)
	ok, err := structs.IsMember(t.Context(), "u", user{ID: 2})
	must(t, err)
	want(t, "IsMember of a struct", ok, true)
	must(t, c.Delete(t.Context(), "s"))
	wantMissing(t, c, "s")
}

func testSetMissing(t *testing.T, e *env) {
	c := e.words()
	wantMembers(t, c, "none")
	ok, err := c.IsMember(t.Context(), "none", "a")
	must(t, err)
	want(t, "IsMember of a missing key", ok, false)
	n, err := c.Remove(t.Context(), "none", "a")
	must(t, err)
	want(t, "removed from a missing key", n, 0)
	wantMissing(t, c, "none")
	_, err = c.Add(t.Context(), "none", []string{"a"})
	must(t, err)
	wantMembers(t, c, "none", "a")
}

func testSetConditions(t *testing.T, e *env) {
	c := e.words()
	stored := true
	n, err := c.Add(t.Context(), "s", []string{"a"}, xcache.WithXX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "XX on a missing key stored", stored, false)
	want(t, "XX on a missing key added", n, 0)
	wantMissing(t, c, "s")
	_, err = c.Add(t.Context(), "s", []string{"a"}, xcache.WithNX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "NX on a missing key stored", stored, true)
	n, err = c.Add(t.Context(), "s", []string{"b"}, xcache.WithNX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "NX on an existing key stored", stored, false)
	want(t, "NX on an existing key added", n, 0)
	n, err = c.Add(t.Context(), "s", []string{"a"}, xcache.WithXX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "XX on an existing key stored", stored, true)
	want(t, "XX with an existing member added", n, 0)
	wantMembers(t, c, "s", "a")
}

func testSetRemove(t *testing.T, e *env) {
	c := e.words()
	_, err := c.Add(t.Context(), "s", []string{"a", "b", "c"})
	must(t, err)
	n, err := c.Remove(t.Context(), "s", "a", "z", "a")
	must(t, err)
	want(t, "removed", n, 1)
	n, err = c.Remove(t.Context(), "s")
	must(t, err)
	want(t, "removed without members", n, 0)
	wantMembers(t, c, "s", "b", "c")
	_, err = c.Remove(t.Context(), "s", "b", "c")
	must(t, err)
	wantMissing(t, c, "s")
}

func testSetWrongType(t *testing.T, e *env) {
	must(t, e.counts().Set(t.Context(), "h", "f", new(1)))
	c := e.words()
	_, addErr := c.Add(t.Context(), "h", []string{"a"})
	_, membersErr := c.Members(t.Context(), "h")
	_, isErr := c.IsMember(t.Context(), "h", "a")
	_, countErr := c.Count(t.Context(), "h")
	_, removeErr := c.Remove(t.Context(), "h", "a")
	for name, err := range map[string]error{
		"Add": addErr, "Members": membersErr, "IsMember": isErr, "Count": countErr,
		"Remove": removeErr,
	} {
		if !errors.Is(err, xcache.ErrWrongType) {
			t.Errorf("%s on a hash = %v, want ErrWrongType", name, err)
		}
	}
	wantHash(t, e.counts(), "h", map[string]int{"f": 1})
}
