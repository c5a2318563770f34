package xcache_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

// operation is a call of a view with the expected outcome.
type operation struct {
	name string
	call func(ctx context.Context)
	want string
}

// operations returns calls on existing keys, on missing keys ("none"), and on keys of
// another kind ("list", or "hash" for lists).
func operations(m *xcache.Manager) []operation {
	return slices.Concat(keyOperations(m), hashOperations(m), setOperations(m), listOperations(m))
}

func keyOperations(m *xcache.Manager) []operation {
	k := xcache.KeyCacheOf[string, int](m, xcache.WithName("v"), xcache.WithKeyPrefix("k:"))
	all := xcache.KeyCacheOf[string, int](m, xcache.WithName("v"))
	load := func(context.Context) (*int, error) { return new(1), nil }
	return []operation{
		{"Get", func(ctx context.Context) { _, _, _ = k.Get(ctx, "a") }, "get hit"},
		{"Get none", func(ctx context.Context) { _, _, _ = k.Get(ctx, "none") }, "get miss"},
		{"Get list", func(ctx context.Context) { _, _, _ = all.Get(ctx, "list") }, "get failed"},
		{"Set", func(ctx context.Context) { _ = k.Set(ctx, "b", new(1)) }, "set done"},
		{
			"Set XX", func(ctx context.Context) { _ = k.Set(ctx, "none", new(1), xcache.WithXX()) },
			"set skipped",
		},
		{"Set nil", func(ctx context.Context) { _ = k.Set(ctx, "b", nil) }, "set failed"},
		{"Set option", func(ctx context.Context) {
			_ = k.Set(ctx, "b", new(1), xcache.WithTTL(-1))
		}, "set failed"},
		{"Exists", func(ctx context.Context) { _, _ = k.Exists(ctx, "a") }, "exists hit"},
		{"Exists none", func(ctx context.Context) { _, _ = k.Exists(ctx, "none") }, "exists miss"},
		{"TTL", func(ctx context.Context) { _, _, _ = k.TTL(ctx, "a") }, "ttl hit"},
		{"TTL none", func(ctx context.Context) { _, _, _ = k.TTL(ctx, "none") }, "ttl miss"},
		{
			"GetMany", func(ctx context.Context) { _, _ = k.GetMany(ctx, []string{"a", "none"}) },
			"read hit",
		},
		{
			"GetMany none", func(ctx context.Context) { _, _ = k.GetMany(ctx, []string{"none"}) },
			"read miss",
		},
		{
			"SetMany", func(ctx context.Context) { _ = k.SetMany(ctx, map[string]int{"b": 1}) },
			"set done",
		},
		{"SetMany NX", func(ctx context.Context) {
			_ = k.SetMany(ctx, map[string]int{"b": 1}, xcache.WithNX())
		}, "set failed"},
		{"Delete", func(ctx context.Context) { _ = k.Delete(ctx, "b") }, "delete done"},
		{"Delete none", func(ctx context.Context) { _ = k.Delete(ctx, "none") }, "delete skipped"},
		{"DeleteMany", func(ctx context.Context) {
			_, _ = k.DeleteMany(ctx, []string{"none", "c"})
		}, "delete done"},
		{
			"GetOrLoad", func(ctx context.Context) { _, _, _ = k.GetOrLoad(ctx, "a", load) },
			"get hit",
		},
		{
			"GetOrLoad none", func(ctx context.Context) { _, _, _ = k.GetOrLoad(ctx, "d", load) },
			"get miss, load hit",
		},
		{"GetOrLoad NX", func(ctx context.Context) {
			_, _, _ = k.GetOrLoad(ctx, "a", load, xcache.WithNX())
		}, "load failed"},
		{"Keys", func(ctx context.Context) { collect(k.Keys(ctx)) }, "scan hit"},
		{"Clear", func(ctx context.Context) { _, _ = k.Clear(ctx) }, "clear done"},
		{"Clear none", func(ctx context.Context) { _, _ = k.Clear(ctx) }, "clear skipped"},
		{"Clear all", func(ctx context.Context) { _, _ = all.Clear(ctx) }, "clear failed"},
		{"Keys none", func(ctx context.Context) { collect(k.Keys(ctx)) }, "scan miss"},
		{"Keys type", func(ctx context.Context) {
			collect(xcache.KeyCacheOf[tier, int](m, xcache.WithName("v")).Keys(ctx))
		}, "scan failed"},
	}
}

func hashOperations(m *xcache.Manager) []operation {
	type row struct{ F, G int }
	h := xcache.HashCacheOf[string, string, int, row](m, xcache.WithName("v"))
	return []operation{
		{"Hash.Get", func(ctx context.Context) { _, _, _ = h.Get(ctx, "hash", "F") }, "get hit"},
		{
			"Hash.Get none", func(ctx context.Context) { _, _, _ = h.Get(ctx, "hash", "none") },
			"get miss",
		},
		{
			"Hash.Get list", func(ctx context.Context) { _, _, _ = h.Get(ctx, "list", "F") },
			"get failed",
		},
		{"Hash.Set", func(ctx context.Context) { _ = h.Set(ctx, "hash", "F", new(1)) }, "set done"},
		{"Hash.Set NX", func(ctx context.Context) {
			_ = h.Set(ctx, "hash", "F", new(1), xcache.WithNX())
		}, "set skipped"},
		{
			"Hash.Set nil", func(ctx context.Context) { _ = h.Set(ctx, "hash", "F", nil) },
			"set failed",
		},
		{"Hash.GetAll", func(ctx context.Context) { _, _ = h.GetAll(ctx, "hash") }, "read hit"},
		{
			"Hash.GetAll none", func(ctx context.Context) { _, _ = h.GetAll(ctx, "none") },
			"read miss",
		},
		{"Hash.SetAll", func(ctx context.Context) {
			_ = h.SetAll(ctx, "hash", map[string]int{"F": 1})
		}, "set done"},
		{
			"Hash.SetAll empty",
			func(ctx context.Context) { _ = h.SetAll(ctx, "hash", nil) }, "set skipped",
		},
		{
			"Hash.GetAllStruct",
			func(ctx context.Context) { _, _, _ = h.GetAllStruct(ctx, "hash") },
			"read hit",
		},
		{
			"Hash.GetAllStruct none",
			func(ctx context.Context) { _, _, _ = h.GetAllStruct(ctx, "none") }, "read miss",
		},
		{
			"Hash.SetAllStruct",
			func(ctx context.Context) { _ = h.SetAllStruct(ctx, "hash", &row{}) },
			"set done",
		},
		{
			"Hash.SetAllStruct nil",
			func(ctx context.Context) { _ = h.SetAllStruct(ctx, "hash", nil) }, "set failed",
		},
		{
			"Hash.Exists", func(ctx context.Context) { _, _ = h.Exists(ctx, "hash", "F") },
			"exists hit",
		},
		{
			"Hash.Exists none", func(ctx context.Context) { _, _ = h.Exists(ctx, "hash", "none") },
			"exists miss",
		},
		{
			"Hash.Remove", func(ctx context.Context) { _, _ = h.Remove(ctx, "hash", "G") },
			"remove done",
		},
		{
			"Hash.Remove none", func(ctx context.Context) { _, _ = h.Remove(ctx, "hash", "none") },
			"remove skipped",
		},
		{"Hash.TTL", func(ctx context.Context) { _, _, _ = h.TTL(ctx, "hash") }, "ttl hit"},
		{"Hash.Keys", func(ctx context.Context) { collect(h.Keys(ctx)) }, "scan hit"},
		{"Hash.Delete", func(ctx context.Context) { _ = h.Delete(ctx, "hash") }, "delete done"},
	}
}

func setOperations(m *xcache.Manager) []operation {
	s := xcache.SetCacheOf[string, int](m, xcache.WithName("v"))
	return []operation{
		{"Set.Add", func(ctx context.Context) { _, _ = s.Add(ctx, "set", []int{1}) }, "set done"},
		{"Set.Add NX", func(ctx context.Context) {
			_, _ = s.Add(ctx, "set", []int{1}, xcache.WithNX())
		}, "set skipped"},
		{
			"Set.Add list", func(ctx context.Context) { _, _ = s.Add(ctx, "list", []int{1}) },
			"set failed",
		},
		{"Set.Members", func(ctx context.Context) { _, _ = s.Members(ctx, "set") }, "read hit"},
		{
			"Set.Members none", func(ctx context.Context) { _, _ = s.Members(ctx, "none") },
			"read miss",
		},
		{
			"Set.IsMember", func(ctx context.Context) { _, _ = s.IsMember(ctx, "set", 1) },
			"exists hit",
		},
		{
			"Set.IsMember none", func(ctx context.Context) { _, _ = s.IsMember(ctx, "set", 99) },
			"exists miss",
		},
		{"Set.Count", func(ctx context.Context) { _, _ = s.Count(ctx, "set") }, "read hit"},
		{
			"Set.Count list", func(ctx context.Context) { _, _ = s.Count(ctx, "list") },
			"read failed",
		},
		{"Set.Remove", func(ctx context.Context) { _, _ = s.Remove(ctx, "set", 1) }, "remove done"},
		{
			"Set.Remove none", func(ctx context.Context) { _, _ = s.Remove(ctx, "set", 99) },
			"remove skipped",
		},
		{"Set.TTL", func(ctx context.Context) { _, _, _ = s.TTL(ctx, "set") }, "ttl hit"},
		{"Set.Keys", func(ctx context.Context) { collect(s.Keys(ctx)) }, "scan hit"},
		{"Set.Clear", func(ctx context.Context) { _, _ = s.Clear(ctx) }, "clear failed"},
		{"Set.Delete", func(ctx context.Context) { _ = s.Delete(ctx, "set") }, "delete done"},
	}
}

func listOperations(m *xcache.Manager) []operation {
	l := xcache.ListCacheOf[string, int](m, xcache.WithName("v"))
	return []operation{
		{
			"List.Prepend", func(ctx context.Context) { _, _ = l.Prepend(ctx, "list", []int{1}) },
			"set done",
		},
		{
			"List.Append", func(ctx context.Context) { _, _ = l.Append(ctx, "list", []int{2}) },
			"set done",
		},
		{"List.Append NX", func(ctx context.Context) {
			_, _ = l.Append(ctx, "list", []int{2}, xcache.WithNX())
		}, "set skipped"},
		{
			"List.Range", func(ctx context.Context) { _, _ = l.Range(ctx, "list", 0, -1) },
			"read hit",
		},
		{
			"List.Range none", func(ctx context.Context) { _, _ = l.Range(ctx, "none", 0, -1) },
			"read miss",
		},
		{"List.Index", func(ctx context.Context) { _, _, _ = l.Index(ctx, "list", 0) }, "get hit"},
		{
			"List.Index none", func(ctx context.Context) { _, _, _ = l.Index(ctx, "list", 99) },
			"get miss",
		},
		{"List.Len", func(ctx context.Context) { _, _ = l.Len(ctx, "list") }, "read hit"},
		{"List.Pop", func(ctx context.Context) { _, _, _ = l.Pop(ctx, "list") }, "pop hit"},
		{"List.PopLast", func(ctx context.Context) { _, _, _ = l.PopLast(ctx, "list") }, "pop hit"},
		{"List.Pop none", func(ctx context.Context) { _, _, _ = l.Pop(ctx, "none") }, "pop miss"},
		{
			"List.Remove", func(ctx context.Context) { _, _ = l.Remove(ctx, "list", 1, 0) },
			"remove done",
		},
		{
			"List.Remove none", func(ctx context.Context) { _, _ = l.Remove(ctx, "list", 1, 99) },
			"remove skipped",
		},
		{"List.TTL", func(ctx context.Context) { _, _, _ = l.TTL(ctx, "list") }, "ttl hit"},
		{"List.Keys", func(ctx context.Context) { collect(l.Keys(ctx)) }, "scan hit"},
		{"List.Delete", func(ctx context.Context) { _ = l.Delete(ctx, "list") }, "delete done"},
	}
}

func TestWithMetrics(t *testing.T) {
	t.Run("reports one event for each operation", func(t *testing.T) {
		var events recorder
		m := newManager(t, xcache.WithMetrics(events.Observe))
		ctx := t.Context()
		check(t, xcache.KeyCacheOf[string, int](m).SetMany(ctx, map[string]int{"k:a": 1, "k:c": 1}))
		check(t, xcache.HashCacheOf[string, string, int, struct{}](m).SetAll(ctx, "hash",
			map[string]int{"F": 1, "G": 2}))
		_, err := xcache.SetCacheOf[string, int](m).Add(ctx, "set", []int{1, 2})
		check(t, err)
		_, err = xcache.ListCacheOf[string, int](m).Append(ctx, "list", []int{0, 0, 0})
		check(t, err)
		for _, o := range operations(m) {
			t.Run(o.name, func(t *testing.T) {
				events.events = nil
				start := time.Now()
				o.call(ctx)
				elapsed := time.Since(start)
				var got []string
				for _, e := range events.events {
					if e.View != "v" || e.Near || e.Latency < 0 || e.Latency > elapsed ||
						(e.Err != nil) != (e.Outcome == "failed") {
						t.Errorf("event %+v does not match a call of %s", e, elapsed)
					}
					got = append(got, fmt.Sprint(e.Op, " ", e.Outcome))
				}
				if strings.Join(got, ", ") != o.want {
					t.Errorf("events = %q, want %q", got, o.want)
				}
			})
		}
	})

	t.Run("reports one failure after the context ended", func(t *testing.T) {
		var events recorder
		m := newManager(t, xcache.WithMetrics(events.Observe))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, o := range operations(m) {
			t.Run(o.name, func(t *testing.T) {
				events.events = nil
				o.call(ctx)
				if len(events.events) != 1 || events.events[0].Outcome != "failed" {
					t.Errorf("events = %+v, want one failure", events.events)
				}
			})
		}
	})
}
