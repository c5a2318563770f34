package leasetest

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

var renewChecks = []check{
	{"Renew/Extends", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(brief))
		h.TTL = long
		renew(t, e.h.Open(t), h, true)
		sleep(brief)
		if g := mustNotAcquire(t, e, e.request(long)); g.Wait > long || g.Wait < long-time.Minute {
			t.Errorf("Wait = %s after a renewal, want the TTL of %s", g.Wait, long)
		}
	}},
	{"Renew/Expiry", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(brief))
		requested := time.Now()
		for range 5 {
			sleep(brief / 5)
			requested = time.Now()
			renew(t, e, h, true)
		}
		await(t, e, e.request(long), requested.Add(brief))
		renew(t, e, h, false)
	}},
	{"Renew/ExpiredRecord", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(50*time.Millisecond))
		sleep(100 * time.Millisecond)
		h.TTL = long
		renew(t, e, h, true)
		mustNotAcquire(t, e, e.request(long))
	}},
	{"Renew/TakenRecord", func(t *testing.T, e *env) {
		requested := time.Now()
		_, former := mustAcquire(t, e, e.request(brief))
		_, h := await(t, e, e.request(brief), requested.Add(brief))
		requested = time.Now()
		former.TTL, former.Mark = long, 99
		renew(t, e, former, false)
		h.TTL = brief
		renew(t, e, h, true) // otherwise h expires before requested.Add(brief)
		g, _ := await(t, e, e.request(long), requested.Add(brief))
		if g.Mark != 0 {
			t.Errorf("Mark = %d, want no mark of a former holder", g.Mark)
		}
	}},
	{"Renew/ReleasedRecord", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long))
		release(t, e, h, true)
		renew(t, e, h, false) // as a renewal that arrives late
		mustAcquire(t, e, e.request(long))
	}},
	{"Age/SinceFirstHolder", func(t *testing.T, e *env) {
		start := time.Now()
		first, h := mustAcquire(t, e, e.request(long))
		after := time.Now()
		if first.Age < 0 || first.Age > time.Since(start)+tick {
			t.Errorf("Age of a new name = %s, want 0", first.Age)
		}
		release(t, e, h, true)
		for range 3 {
			sleep(brief / 2)
			low := time.Since(after)
			g, h := mustAcquire(t, e, e.request(long))
			if high := time.Since(start); g.Age < low-tick || g.Age > high+tick {
				t.Errorf("Age = %s, want %s to %s", g.Age, low, high)
			}
			renew(t, e, h, true)
			release(t, e, h, true)
		}
	}},
}

var forgetChecks = []check{
	{"Forget/TokensIncrease", func(t *testing.T, e *env) {
		first, h := mustAcquire(t, e, e.request(long))
		e.forget(t)
		next, _ := mustAcquire(t, e, e.request(long))
		if next.Token <= first.Token {
			t.Errorf("token after Forget = %d, want more than %d", next.Token, first.Token)
		}
		renew(t, e, h, false)
	}},
	{"Forget/RenewRestoresRecord", func(t *testing.T, e *env) {
		first, h := mustAcquire(t, e, e.request(long))
		e.forget(t)
		h.Mark = 42
		renew(t, e, h, true)
		mustNotAcquire(t, e, e.request(long))
		renew(t, e, h, true)
		release(t, e, h, true)
		next, _ := mustAcquire(t, e, e.request(long))
		if next.Mark != 42 || next.Token <= first.Token {
			t.Errorf("mark, token = %d, %d; want 42 and more than %d",
				next.Mark, next.Token, first.Token)
		}
	}},
	{"Forget/AgeRestarts", func(t *testing.T, e *env) {
		slots := func(r *driver.Request) { r.Count = 4 }
		_, h := mustAcquire(t, e, e.request(long, slots))
		sleep(brief)
		requested := time.Now()
		e.forget(t)
		g, _ := mustAcquire(t, e, e.request(long, slots))
		if g.Age > time.Since(requested)+tick {
			t.Errorf("Age = %s, want 0 after Forget", g.Age)
		}
		requested = time.Now()
		e.forget(t)
		renew(t, e, h, true)
		renewed := time.Now()
		sleep(brief)
		low := time.Since(renewed)
		g, _ = mustAcquire(t, e, e.request(long, slots))
		if high := time.Since(requested); g.Age < low-tick || g.Age > high+tick {
			t.Errorf("Age = %s, want %s to %s since the renewal", g.Age, low, high)
		}
	}},
	{"Forget/Mark", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long, func(r *driver.Request) { r.Mark = 7 }))
		release(t, e, h, true)
		e.forget(t)
		if g, _ := mustAcquire(t, e, e.request(long)); g.Mark != 0 {
			t.Errorf("Mark = %d, want 0 after Forget", g.Mark)
		}
	}},
}
