package leasetest

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

var renewChecks = []check{
	{"Renew/Extends", func(t *testing.T, e *env) {
		_, h := take(t, e, e.ask(brief))
		h.TTL = long
		renew(t, e.h.Open(t), h, true)
		pass(brief)
		if g := refused(t, e, e.ask(long)); g.Wait > long || g.Wait < long-time.Minute {
			t.Errorf("Wait = %s after a renewal, want the TTL of %s", g.Wait, long)
		}
	}},
	{"Renew/EndsAfterItsTTL", func(t *testing.T, e *env) {
		_, h := take(t, e, e.ask(brief))
		asked := time.Now()
		for range 5 {
			pass(brief / 5)
			asked = time.Now()
			renew(t, e, h, true)
		}
		await(t, e, e.ask(long), asked.Add(brief))
		renew(t, e, h, false)
	}},
	{"Renew/OfAnEndedRecord", func(t *testing.T, e *env) {
		_, h := take(t, e, e.ask(50*time.Millisecond))
		pass(100 * time.Millisecond)
		h.TTL = long
		renew(t, e, h, true)
		refused(t, e, e.ask(long))
	}},
	{"Renew/OfATakenOne", func(t *testing.T, e *env) {
		asked := time.Now()
		_, former := take(t, e, e.ask(brief))
		_, h := await(t, e, e.ask(brief), asked.Add(brief))
		asked = time.Now()
		former.TTL, former.Mark = long, 99
		renew(t, e, former, false)
		h.TTL = brief
		renew(t, e, h, true) // else what follows would be early
		g, _ := await(t, e, e.ask(long), asked.Add(brief))
		if g.Mark != 0 {
			t.Errorf("Mark = %d, which a former holder left", g.Mark)
		}
	}},
	{"Renew/OfAReleasedOne", func(t *testing.T, e *env) {
		_, h := take(t, e, e.ask(long))
		release(t, e, h, true)
		renew(t, e, h, false) // a renewal that was on its way
		take(t, e, e.ask(long))
	}},
	{"Age/GrowsFromTheFirstHolderOn", func(t *testing.T, e *env) {
		begin := time.Now()
		first, h := take(t, e, e.ask(long))
		after := time.Now()
		if first.Age < 0 || first.Age > time.Since(begin)+tick {
			t.Errorf("the age of a new name is %s, want none", first.Age)
		}
		release(t, e, h, true)
		for range 3 {
			pass(brief / 2)
			low := time.Since(after)
			g, h := take(t, e, e.ask(long))
			if high := time.Since(begin); g.Age < low-tick || g.Age > high+tick {
				t.Errorf("Age = %s, want %s to %s", g.Age, low, high)
			}
			renew(t, e, h, true)
			release(t, e, h, true)
		}
	}},
}

var forgetChecks = []check{
	{"Forget/TokensStillGrow", func(t *testing.T, e *env) {
		first, h := take(t, e, e.ask(long))
		e.forget(t)
		next, _ := take(t, e, e.ask(long))
		if next.Token <= first.Token {
			t.Errorf("token %d follows %d, which was forgotten", next.Token, first.Token)
		}
		renew(t, e, h, false)
	}},
	{"Forget/ARenewalBringsTheRecordBack", func(t *testing.T, e *env) {
		first, h := take(t, e, e.ask(long))
		e.forget(t)
		h.Mark = 42
		renew(t, e, h, true)
		refused(t, e, e.ask(long))
		renew(t, e, h, true)
		release(t, e, h, true)
		next, _ := take(t, e, e.ask(long))
		if next.Mark != 42 || next.Token <= first.Token {
			t.Errorf("mark, token = %d, %d; want 42 and more than %d",
				next.Mark, next.Token, first.Token)
		}
	}},
	{"Forget/TheAgeBeginsAnew", func(t *testing.T, e *env) {
		slots := func(r *driver.Request) { r.Count = 4 }
		_, h := take(t, e, e.ask(long, slots))
		pass(brief)
		asked := time.Now()
		e.forget(t)
		g, _ := take(t, e, e.ask(long, slots))
		if g.Age > time.Since(asked)+tick {
			t.Errorf("Age = %s, want none of what was forgotten", g.Age)
		}
		asked = time.Now()
		e.forget(t)
		renew(t, e, h, true)
		renewed := time.Now()
		pass(brief)
		low := time.Since(renewed)
		g, _ = take(t, e, e.ask(long, slots))
		if high := time.Since(asked); g.Age < low-tick || g.Age > high+tick {
			t.Errorf("Age = %s, want %s to %s: the renewal began it", g.Age, low, high)
		}
	}},
	{"Forget/AlsoTheMark", func(t *testing.T, e *env) {
		_, h := take(t, e, e.ask(long, func(r *driver.Request) { r.Mark = 7 }))
		release(t, e, h, true)
		e.forget(t)
		if g, _ := take(t, e, e.ask(long)); g.Mark != 0 {
			t.Errorf("Mark = %d, want it forgotten", g.Mark)
		}
	}},
}
