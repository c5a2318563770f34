package cachetest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

var listChecks = []check{
	{"List/PrependAndAppend", testListPush},
	{"List/Range", testListRange},
	{"List/Index", testListIndex},
	{"List/Pop", testListPop},
	{"List/Remove", testListRemove},
	{"List/Missing", testListMissing},
	{"List/Conditions", testListConditions},
	{"List/Queue", testListQueue},
	{"List/WrongType", testListWrongType},
}

type letters = xcache.ListCache[string, string]

func (e *env) letters() *letters { return xcache.ListCacheOf[string, string](e.m) }

func wantElements(t testing.TB, c *letters, key string, expected ...string) {
	t.Helper()
	got, err := c.Range(t.Context(), key, 0, -1)
	must(t, err)
	if got == nil {
		t.Error("Range = nil, want an empty list")
	}
	wantList(t, "elements of "+key, got, expected)
	n, err := c.Len(t.Context(), key)
	must(t, err)
	want(t, "Len of "+key, n, len(expected))
}

func testListPush(t *testing.T, e *env) {
	c := e.letters()
	n, err := c.Append(t.Context(), "l", []string{"c", "d"})
	must(t, err)
	want(t, "length", n, 2)
	n, err = c.Prepend(t.Context(), "l", []string{"b", "a"})
	must(t, err)
	want(t, "length", n, 4)
	n, err = c.Append(t.Context(), "l", []string{"d", ""})
	must(t, err)
	want(t, "length", n, 6)
	wantElements(t, c, "l", "a", "b", "c", "d", "d", "")
	_, err = c.Prepend(t.Context(), "l", nil)
	must(t, err)
	_, err = c.Append(t.Context(), "none", []string{})
	must(t, err)
	wantMissing(t, c, "none")
	wantElements(t, c, "l", "a", "b", "c", "d", "d", "")
	must(t, c.Delete(t.Context(), "l"))
	wantMissing(t, c, "l")
}

func testListRange(t *testing.T, e *env) {
	c := e.letters()
	_, err := c.Append(t.Context(), "l", []string{"a", "b", "c", "d"})
	must(t, err)
	for _, tc := range []struct {
		start, stop int
		want        []string
	}{
		{0, 0, []string{"a"}},
		{0, -1, []string{"a", "b", "c", "d"}},
		{1, 2, []string{"b", "c"}},
		{-2, -1, []string{"c", "d"}},
		{-3, 1, []string{"b"}},
		{0, 99, []string{"a", "b", "c", "d"}},
		{-99, 1, []string{"a", "b"}},
		{3, 3, []string{"d"}},
		{4, 9, nil},
		{2, 1, nil},
		{-1, -2, nil},
		{0, -99, nil},
		{math.MinInt, math.MaxInt, []string{"a", "b", "c", "d"}},
		{math.MaxInt, math.MaxInt, nil},
	} {
		got, err := c.Range(t.Context(), "l", tc.start, tc.stop)
		must(t, err)
		wantList(t, fmt.Sprintf("Range(%d, %d)", tc.start, tc.stop), got, tc.want)
	}
}

func testListIndex(t *testing.T, e *env) {
	c := e.letters()
	_, err := c.Append(t.Context(), "l", []string{"a", "b", "c"})
	must(t, err)
	for index, expected := range map[int]string{0: "a", 2: "c", -1: "c", -3: "a"} {
		got, ok, err := c.Index(t.Context(), "l", index)
		must(t, err)
		if !ok || *got != expected {
			t.Errorf("Index(%d) = %v, %t; want %q", index, got, ok, expected)
		}
	}
	for _, index := range []int{3, -4, math.MaxInt, math.MinInt} {
		got, ok, err := c.Index(t.Context(), "l", index)
		must(t, err)
		if ok || got != nil {
			t.Errorf("Index(%d) = %v, %t; want no element", index, got, ok)
		}
	}
}

func testListPop(t *testing.T, e *env) {
	c := e.letters()
	_, err := c.Append(t.Context(), "l", []string{"a", "b", "c"})
	must(t, err)
	first, ok, err := c.Pop(t.Context(), "l")
	must(t, err)
	if !ok || *first != "a" {
		t.Errorf("Pop = %v, %t; want a", first, ok)
	}
	last, ok, err := c.PopLast(t.Context(), "l")
	must(t, err)
	if !ok || *last != "c" {
		t.Errorf("PopLast = %v, %t; want c", last, ok)
	}
	wantElements(t, c, "l", "b")
	_, _, err = c.Pop(t.Context(), "l")
	must(t, err)
	wantMissing(t, c, "l")
	got, ok, err := c.PopLast(t.Context(), "l")
	must(t, err)
	if ok || got != nil {
		t.Errorf("PopLast of an empty list = %v, %t; want no element", got, ok)
	}
}

func testListRemove(t *testing.T, e *env) {
	c := e.letters()
	for _, tc := range []struct {
		count, removed int
		want           []string
	}{
		{0, 3, []string{"b", "c"}},
		{1, 1, []string{"b", "a", "c", "a"}},
		{2, 2, []string{"b", "c", "a"}},
		{-1, 1, []string{"a", "b", "a", "c"}},
		{-2, 2, []string{"a", "b", "c"}},
		{9, 3, []string{"b", "c"}},
		{-9, 3, []string{"b", "c"}},
	} {
		key := fmt.Sprint("l", tc.count)
		_, err := c.Append(t.Context(), key, []string{"a", "b", "a", "c", "a"})
		must(t, err)
		n, err := c.Remove(t.Context(), key, tc.count, "a")
		must(t, err)
		want(t, fmt.Sprintf("removed with count %d", tc.count), n, tc.removed)
		wantElements(t, c, key, tc.want...)
	}
	n, err := c.Remove(t.Context(), "l0", 0, "z")
	must(t, err)
	want(t, "removed with no match", n, 0)
	_, err = c.Remove(t.Context(), "l0", 0, "b")
	must(t, err)
	_, err = c.Remove(t.Context(), "l0", 0, "c")
	must(t, err)
	wantMissing(t, c, "l0")
}

func testListMissing(t *testing.T, e *env) {
	c := e.letters()
	wantElements(t, c, "none")
	_, ok, err := c.Index(t.Context(), "none", 0)
	must(t, err)
	want(t, "Index of a missing key found", ok, false)
	_, ok, err = c.Pop(t.Context(), "none")
	must(t, err)
	want(t, "Pop of a missing key found", ok, false)
	n, err := c.Remove(t.Context(), "none", 0, "a")
	must(t, err)
	want(t, "removed from a missing key", n, 0)
	wantMissing(t, c, "none")
	_, err = c.Append(t.Context(), "none", []string{"a"})
	must(t, err)
	wantElements(t, c, "none", "a")
}

func testListConditions(t *testing.T, e *env) {
	c := e.letters()
	stored := true
	n, err := c.Append(t.Context(), "l", []string{"a"}, xcache.WithXX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "XX on a missing key stored", stored, false)
	want(t, "length", n, 0)
	wantMissing(t, c, "l")
	_, err = c.Prepend(t.Context(), "l", []string{"a"}, xcache.WithNX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "NX on a missing key stored", stored, true)
	n, err = c.Append(t.Context(), "l", []string{"b"}, xcache.WithNX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "NX on an existing key stored", stored, false)
	want(t, "length", n, 0)
	n, err = c.Append(t.Context(), "l", []string{"b"}, xcache.WithXX(), xcache.WithStored(&stored))
	must(t, err)
	want(t, "XX on an existing key stored", stored, true)
	want(t, "length", n, 2)
	wantElements(t, c, "l", "a", "b")
}

// testListQueue pushes at one end and pops at the other until the store has to reorganize
// its memory.
func testListQueue(t *testing.T, e *env) {
	c := xcache.ListCacheOf[string, int](e.m)
	next := 0
	for i := range 300 {
		_, err := c.Append(t.Context(), "q", []int{2 * i, 2*i + 1})
		must(t, err)
		got, ok, err := c.Pop(t.Context(), "q")
		must(t, err)
		if !ok || *got != next {
			t.Fatalf("Pop = %v, %t; want %d", got, ok, next)
		}
		next++
	}
	for i := range 300 {
		_, err := c.Prepend(t.Context(), "q", []int{-2 * i, -2*i - 1})
		must(t, err)
		got, ok, err := c.PopLast(t.Context(), "q")
		must(t, err)
		if !ok || *got != 599-i {
			t.Fatalf("PopLast = %v, %t; want %d", got, ok, 599-i)
		}
	}
	n, err := c.Len(t.Context(), "q")
	must(t, err)
	want(t, "Len", n, 600)
}

func testListWrongType(t *testing.T, e *env) {
	_, err := e.words().Add(t.Context(), "s", []string{"a"})
	must(t, err)
	c := e.letters()
	_, pushErr := c.Append(t.Context(), "s", []string{"a"})
	_, prependErr := c.Prepend(t.Context(), "s", []string{"a"})
	_, rangeErr := c.Range(t.Context(), "s", 0, -1)
	_, _, indexErr := c.Index(t.Context(), "s", 0)
	_, lenErr := c.Len(t.Context(), "s")
	_, _, popErr := c.Pop(t.Context(), "s")
	_, removeErr := c.Remove(t.Context(), "s", 0, "a")
	for name, err := range map[string]error{
		"Append": pushErr, "Prepend": prependErr, "Range": rangeErr, "Index": indexErr,
		"Len": lenErr, "Pop": popErr, "Remove": removeErr,
	} {
		if !errors.Is(err, xcache.ErrWrongType) {
			t.Errorf("%s on a set = %v, want ErrWrongType", name, err)
		}
	}
	wantMembers(t, e.words(), "s", "a")
}
