package leasetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// large needs all 63 bits, which a float64 cannot represent.
const large = 1<<62 + 1

// mark sets the mark of a request.
func mark(n int64) func(r *driver.Request) { return func(r *driver.Request) { r.Mark = n } }

// slotRange requests one of count slots, starting at first. The search starts at begin.
func slotRange(first, count, begin int) func(r *driver.Request) {
	return func(r *driver.Request) { r.First, r.Count, r.Begin = first, count, begin }
}

// wantMark checks that the next holder receives the mark, and releases the slot.
func (e *env) wantMark(t *testing.T, want int64) {
	t.Helper()
	g, h := mustAcquire(t, e.h.Open(t), e.request(long))
	if g.Mark != want {
		t.Errorf("Mark = %d, want %d", g.Mark, want)
	}
	release(t, e, h, true)
}

var markChecks = []check{
	{"Mark/MaximumAtAcquire", func(t *testing.T, e *env) {
		before := int64(0)
		requested := time.Now()
		for _, m := range []int64{7, 3, large, 0} {
			g, _ := await(t, e, e.request(brief, mark(m)), requested)
			if g.Mark != before {
				t.Fatalf("Mark = %d, want the previous maximum %d", g.Mark, before)
			}
			before, requested = max(before, m), time.Now()
		}
	}},
	{"Mark/MaximumAtRenew", func(t *testing.T, e *env) {
		requested := time.Now()
		_, h := mustAcquire(t, e, e.request(brief, mark(5)))
		h.Mark = large
		renew(t, e, h, true)
		h.Mark = 6 // as in a renewal that arrives late
		renew(t, e, h, true)
		g, _ := await(t, e, e.request(long), requested.Add(brief))
		if g.Mark != large {
			t.Errorf("Mark = %d, want %d", g.Mark, int64(large))
		}
	}},
	{"Mark/OverwriteAtRelease", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long, mark(large)))
		h.Mark = 6
		release(t, e, h, true)
		e.wantMark(t, 6)
		_, h = mustAcquire(t, e, e.request(long))
		h.Mark = large
		release(t, e, h, true)
		e.wantMark(t, large)
	}},
}

var slotChecks = []check{
	{"Slots/OneHolderPerSlot", func(t *testing.T, e *env) {
		var held []driver.Holding
		for i := range 5 {
			_, h := mustAcquire(t, e, e.request(long, slotRange(10, 5, 10+i)))
			if h.Slot < 10 || h.Slot > 14 ||
				slices.ContainsFunc(held, func(o driver.Holding) bool { return o.Slot == h.Slot }) {
				t.Fatalf("slot %d, want a free slot from 10 to 14", h.Slot)
			}
			held = append(held, h)
		}
		g := mustNotAcquire(t, e, e.request(long, slotRange(10, 5, 12)))
		if g.Wait <= 0 || g.Wait > long {
			t.Errorf("Wait = %s, want more than 0 and at most the TTL of %s", g.Wait, long)
		}
		release(t, e, held[2], true)
		g, _ = mustAcquire(t, e, e.request(long, slotRange(10, 5, 10)))
		if g.Slot != held[2].Slot {
			t.Errorf("slot = %d, want the released slot %d", g.Slot, held[2].Slot)
		}
		renew(t, e, held[2], false)
		for _, i := range []int{0, 1, 3, 4} {
			renew(t, e, held[i], true)
		}
	}},
	{"Slots/WaitForFirstExpiry", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(long, slotRange(0, 2, 0)))
		mustAcquire(t, e, e.request(time.Minute, slotRange(0, 2, 0)))
		if g := mustNotAcquire(t, e, e.request(long, slotRange(0, 2, 0))); g.Wait <= 0 ||
			g.Wait > time.Minute {
			t.Errorf("Wait = %s, want at most the shorter TTL of a minute", g.Wait)
		}
	}},
	{"Slots/Expiry", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(long, slotRange(0, 2, 0)))
		requested := time.Now()
		mustAcquire(t, e, e.request(brief, slotRange(0, 2, 0)))
		g, _ := await(t, e, e.request(long, slotRange(0, 2, 0)), requested.Add(brief))
		if g.Slot != 1 {
			t.Errorf("slot %d, want 1", g.Slot)
		}
	}},
	{"Slots/SearchStart", func(t *testing.T, e *env) {
		for _, want := range []int{23, 24, 20, 21, 22} {
			if g, _ := mustAcquire(t, e, e.request(long, slotRange(20, 5, 23))); g.Slot != want {
				t.Fatalf("slot %d, want %d", g.Slot, want)
			}
		}
	}},
	{"Slots/PreferPastMark", func(t *testing.T, e *env) {
		for slot, m := range []int64{100, 50, 10, 60, 0} {
			r := e.request(long, slotRange(slot, 1, slot), mark(m))
			if slot == 0 {
				r.Count = 5 // the name has several slots
			}
			_, h := mustAcquire(t, e, r)
			if slot < 4 {
				release(t, e, h, true) // slot 4 remains held
			}
		}
		for _, tc := range []struct {
			past  int64
			begin int
			want  int
		}{
			{60, 0, 1},
			{60, 2, 2},
			{60, 3, 3},
			{60, 4, 1},
			{59, 3, 1},
			{1000, 0, 0},
			{1000, 4, 0},
			{9, 0, 2},
			{9, 3, 2},
			{0, 4, 2},
		} {
			g, h := mustAcquire(t, e,
				e.request(long, slotRange(0, 5, tc.begin),
					func(r *driver.Request) { r.Past = tc.past }))
			if g.Slot != tc.want {
				t.Errorf("past %d, begin %d: slot %d, want %d",
					tc.past, tc.begin, g.Slot, tc.want)
			}
			release(t, e, h, true)
		}
	}},
	{"Slots/TokensAndMarksPerSlot", func(t *testing.T, e *env) {
		a, ha := mustAcquire(t, e, e.request(long, slotRange(0, 2, 0), mark(11)))
		b, hb := mustAcquire(t, e, e.request(long, slotRange(0, 2, 0), mark(22)))
		if b.Mark != 0 {
			t.Errorf("slot 1 has the mark %d of slot 0", b.Mark)
		}
		release(t, e, ha, true)
		release(t, e, hb, true)
		for _, first := range []driver.Grant{a, b} {
			next, h := mustAcquire(t, e, e.request(long, slotRange(first.Slot, 1, first.Slot)))
			if next.Slot != first.Slot || next.Token <= first.Token ||
				next.Mark != int64(11*(first.Slot+1)) {
				t.Errorf("slot, token, mark = %d, %d, %d; want %d, more than %d, %d",
					next.Slot, next.Token, next.Mark, first.Slot, first.Token, 11*(first.Slot+1))
			}
			release(t, e, h, true)
		}
	}},
	{"Slots/OverlappingRanges", func(t *testing.T, e *env) {
		for range 2 {
			mustAcquire(t, e, e.request(long, slotRange(2, 2, 2)))
		}
		seen := map[int]bool{}
		for range 2 {
			g, _ := mustAcquire(t, e, e.request(long, slotRange(0, 4, 2)))
			seen[g.Slot] = true
		}
		if !seen[0] || !seen[1] {
			t.Errorf("slots %v, want 0 and 1", seen)
		}
		mustNotAcquire(t, e, e.request(long, slotRange(1, 3, 1)))
		mustAcquire(t, e, e.request(long, slotRange(3, 2, 3)))
	}},
	{"Slots/Many", func(t *testing.T, e *env) {
		var wg sync.WaitGroup
		slots := make([]int, 24)
		connections := []driver.Backend{e, e.h.Open(t), e.h.Open(t), e.h.Open(t)}
		for i := range slots {
			wg.Go(func() {
				g, err := connections[i%len(connections)].Acquire(t.Context(),
					e.request(long, slotRange(1000, 20, 1000+i%3)))
				if slots[i] = g.Slot; err != nil {
					t.Errorf("Acquire: %v", err)
				}
				if !g.OK {
					slots[i] = -1
				}
			})
		}
		wg.Wait()
		slices.Sort(slots)
		want := []int{-1, -1, -1, -1}
		for s := range 20 {
			want = append(want, 1000+s)
		}
		if !slices.Equal(slots, want) {
			t.Errorf("slots of 24 requests = %v, want %v", slots, want)
		}
	}},
	{"Slots/CommonAge", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(long, slotRange(0, 3, 0)))
		after := time.Now()
		sleep(brief)
		low := time.Since(after)
		if g, _ := mustAcquire(t, e, e.request(long, slotRange(0, 3, 0))); g.Age < low-tick {
			t.Errorf("Age = %s at the second slot, want at least the %s since the first",
				g.Age, low)
		}
	}},
}
