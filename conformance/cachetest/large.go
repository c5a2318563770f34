package cachetest

import (
	"slices"
	"strconv"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// many exceeds the argument limits of scripts and protocols.
const many = 2500

// testLargeUpdates checks that updates with many members, fields and elements are atomic.
func testLargeUpdates(t *testing.T, e *env) {
	texts := make([]string, many)
	fields := make(map[string]string, many)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
		fields[texts[i]] = texts[i]
	}
	ttl := xcache.WithTTL(100 * e.unit)

	set := xcache.SetCacheOf[string, string](e.m)
	n, err := set.Add(t.Context(), "set", texts, ttl)
	must(t, err)
	want(t, "members added", n, many)
	n, err = set.Add(t.Context(), "set", append(slices.Clone(texts), "another"), ttl)
	must(t, err)
	want(t, "members added to an existing set", n, 1)
	n, err = set.Count(t.Context(), "set")
	must(t, err)
	want(t, "members", n, many+1)

	hash := xcache.HashCacheOf[string, string, string, struct{}](e.m)
	stored := false
	must(t, hash.SetAll(t.Context(), "hash", fields,
		ttl, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "fields stored", stored, true)
	must(t, hash.SetAll(t.Context(), "hash", fields,
		ttl, xcache.WithNX(), xcache.WithStored(&stored)))
	want(t, "existing fields stored with NX", stored, false)
	all, err := hash.GetAll(t.Context(), "hash")
	must(t, err)
	want(t, "fields", len(all), many)

	list := xcache.ListCacheOf[string, string](e.m)
	n, err = list.Append(t.Context(), "list", texts, ttl)
	must(t, err)
	want(t, "elements appended", n, many)
	got, err := list.Range(t.Context(), "list", 0, -1)
	must(t, err)
	wantList(t, "elements", got, texts)
	n, err = list.Prepend(t.Context(), "list", texts, ttl)
	must(t, err)
	want(t, "elements in total", n, 2*many)
}
