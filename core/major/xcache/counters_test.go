package xcache_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
)

func TestCountersCountByViewAndOperation(t *testing.T) {
	counters := xcache.NewCounters()
	m := newManager(t, xcache.WithMetrics(counters))
	users := xcache.KeyCacheOf[string, int](m, xcache.WithName("user"))
	queue := xcache.ListCacheOf[string, int](m, xcache.WithName("queue"))
	ctx := t.Context()
	_, _, _ = users.Get(ctx, "k")
	_ = users.Set(ctx, "k", new(1))
	_, _, _ = users.Get(ctx, "k")
	_, _ = users.GetMany(ctx, []string{"k", "l"})
	_, _ = users.Exists(ctx, "l")
	_ = users.Set(ctx, "k", new(1), xcache.WithNX())
	_ = users.Set(ctx, "k", nil)
	_, _, _ = users.GetOrLoad(ctx, "new", func(context.Context) (*int, error) { return new(1), nil })
	_, _, _ = users.GetOrLoad(ctx, "bad", func(context.Context) (*int, error) { return nil, errors.New("x") })
	_, _, _ = queue.Pop(ctx, "q")

	all := counters.Snapshot()
	if len(all) != 2 || all[0].View != "queue" || all[1].View != "user" {
		t.Fatalf("Snapshot = %+v, want queue and user", all)
	}
	if q := all[0]; q.Hits+q.Misses+q.Errors != 0 || len(q.Ops) != 1 || q.Ops[0].Op != xcache.OpPop || q.Ops[0].Outcomes[xcache.Miss] != 1 {
		t.Errorf("queue = %+v, want one pop that missed", q)
	}
	u := all[1]
	if u.Hits != 2 || u.Misses != 3 || u.NearHits != 0 || u.Loads != 2 || u.LoadErrors != 1 || u.Errors != 1 {
		t.Errorf("user = %+v, want 2 hits, 3 misses, 2 loads of which 1 failed, 1 error", u)
	}
	got := map[string]uint64{}
	for _, op := range u.Ops {
		var sum uint64
		for outcome, n := range op.Outcomes {
			got[fmt.Sprint(op.Op, " ", outcome)] = n
			sum += n
		}
		if sum != op.Count || op.Seconds <= 0 {
			t.Errorf("%s: %d with %d outcomes in %v s", op.Op, op.Count, sum, op.Seconds)
		}
	}
	want := map[string]uint64{
		"get miss": 3, "get hit": 1, "set done": 1, "set skipped": 1, "set failed": 1, "exists miss": 1, "read hit": 1,
		"load hit": 1, "load failed": 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("operations = %v, want %v", got, want)
	}
}

func TestCountersSortLatenciesIntoBuckets(t *testing.T) {
	c := xcache.NewCounters()
	for _, latency := range []time.Duration{-1, 0, time.Microsecond, time.Microsecond + 1, 3 * time.Millisecond, time.Hour} {
		c.Observe(t.Context(), xcache.Event{Op: xcache.OpGet, Outcome: xcache.Hit, Latency: latency, Near: latency == 0})
	}
	c.Observe(t.Context(), xcache.Event{Op: "another", Outcome: xcache.Hit})
	s := c.Snapshot()[0]
	if s.Hits != 6 || s.NearHits != 1 || len(s.Ops) != 1 {
		t.Fatalf("Snapshot = %+v, want 6 hits, one of them near", s)
	}
	op, bounds := s.Ops[0], xcache.LatencyBuckets()
	want := time.Hour + 3*time.Millisecond + 2*time.Microsecond + 1
	if op.Count != 6 || op.Seconds != want.Seconds() {
		t.Errorf("%d in %v s, want 6 in %v s", op.Count, op.Seconds, want.Seconds())
	}
	for i, le := range bounds {
		n := uint64(5) // all but the hour
		switch {
		case le < 1e-5:
			n = 3
		case le < 3e-3:
			n = 4
		}
		if op.Buckets[i] != n {
			t.Errorf("%d took at most %v s, want %d", op.Buckets[i], le, n)
		}
	}
}

func TestCountersLoseNothing(t *testing.T) {
	c := xcache.NewCounters()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				c.Observe(t.Context(), xcache.Event{View: fmt.Sprint(j % 10), Op: xcache.OpGet, Outcome: xcache.Miss, Latency: time.Duration(i)})
				if j%100 == 0 {
					c.Snapshot()
				}
			}
		})
	}
	all.Wait()
	for _, s := range c.Snapshot() {
		if s.Misses != 800 || s.Ops[0].Buckets[0] != 800 {
			t.Errorf("view %s: %d misses, want 800", s.View, s.Misses)
		}
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	c := xcache.NewCounters()
	ctx := t.Context()
	e := xcache.Event{View: "user", Op: xcache.OpClear, Outcome: xcache.Failed, Latency: time.Second}
	if n := testing.AllocsPerRun(1000, func() { c.Observe(ctx, e) }); n != 0 {
		t.Errorf("%v allocations an event, want none", n)
	}
}

func BenchmarkCounters(b *testing.B) {
	c := xcache.NewCounters()
	e := xcache.Event{View: "user", Op: xcache.OpGet, Outcome: xcache.Hit, Latency: 100 * time.Microsecond}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Observe(context.Background(), e)
		}
	})
}
