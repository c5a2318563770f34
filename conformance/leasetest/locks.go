package leasetest

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

var lockChecks = []check{
	{"Lock/OneHolderAtATime", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(long))
		for _, other := range []driver.Backend{e, e.h.Open(t)} {
			g := mustNotAcquire(t, other, e.request(long))
			if g.Wait <= 0 || g.Wait > long {
				t.Errorf("Wait = %s, want more than 0 and at most the TTL of %s", g.Wait, long)
			}
		}
	}},
	{"Lock/FreeAfterRelease", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long))
		other := e.h.Open(t)
		release(t, other, h, true) // on another connection
		mustAcquire(t, other, e.request(long))
	}},
	{"Lock/Expiry", func(t *testing.T, e *env) {
		requested := time.Now()
		mustAcquire(t, e, e.request(brief))
		await(t, e.h.Open(t), e.request(long), requested.Add(brief))
		mustNotAcquire(t, e, e.request(long))
	}},
	{"Lock/ShortestTTL", func(t *testing.T, e *env) {
		for range 5 {
			requested := time.Now()
			mustAcquire(t, e, e.request(50*time.Millisecond))
			_, h := await(t, e, e.request(long), requested.Add(50*time.Millisecond))
			release(t, e, h, true)
		}
	}},
	{"Lock/LongestTTL", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(24*time.Hour))
		if g := mustNotAcquire(t, e, e.request(long)); g.Wait > 24*time.Hour ||
			g.Wait < 24*time.Hour-time.Minute {
			t.Errorf("Wait = %s, want the TTL of 24h", g.Wait)
		}
	}},
	{"Lock/WaitCountsDown", func(t *testing.T, e *env) {
		mustAcquire(t, e, e.request(long))
		before := mustNotAcquire(t, e, e.request(long)).Wait
		requested := time.Now()
		sleep(brief)
		if after := mustNotAcquire(t, e, e.request(long)).Wait; after > before-brief+tick ||
			after < before-time.Since(requested)-maxDelay {
			t.Errorf("Wait = %s, then %s after %s; want a shorter wait", before, after, brief)
		}
	}},
	{"Lock/HolderNames", func(t *testing.T, e *env) {
		r := e.request(long)
		r.Holder = "A"
		_, h := mustAcquire(t, e, r)
		other := h
		other.Holder = "a"
		renew(t, e, other, false)
		release(t, e, other, false)
		renew(t, e, h, true)
		release(t, e, h, true)
		r.Holder = strings.Repeat("Z", 40)
		_, h = mustAcquire(t, e, r)
		renew(t, e, h, true)
	}},
	{"Token/Increases", func(t *testing.T, e *env) {
		last := int64(0)
		for i := range 50 {
			b := driver.Backend(e)
			if i%10 == 0 {
				b = e.h.Open(t)
			}
			g, h := mustAcquire(t, b, e.request(long))
			if g.Token <= last {
				t.Fatalf("token = %d, want more than %d", g.Token, last)
			}
			last = g.Token
			renew(t, e, h, true)
			release(t, e, h, true)
		}
	}},
	{"Token/IncreasesAfterExpiry", func(t *testing.T, e *env) {
		requested := time.Now()
		first, _ := mustAcquire(t, e, e.request(brief))
		next, _ := await(t, e, e.request(brief), requested.Add(brief))
		if next.Token <= first.Token {
			t.Errorf("token = %d, want more than %d", next.Token, first.Token)
		}
	}},
	{"Token/TimeInMicroseconds", func(t *testing.T, e *env) {
		g, _ := mustAcquire(t, e, e.request(long))
		if d := time.Since(time.UnixMicro(g.Token)).Abs(); d > 24*time.Hour {
			t.Errorf("token %d is the time %s, want the current time",
				g.Token, time.UnixMicro(g.Token))
		}
	}},
	{"Release/FormerHolder", func(t *testing.T, e *env) {
		requested := time.Now()
		_, former := mustAcquire(t, e, e.request(brief))
		_, h := await(t, e, e.request(long), requested.Add(brief))
		former.Mark = 99
		release(t, e, former, false)
		mustNotAcquire(t, e, e.request(long))
		renew(t, e, h, true)
		release(t, e, h, true)
		if g, _ := mustAcquire(t, e, e.request(long)); g.Mark != 0 {
			t.Errorf("Mark = %d, want no mark of a former holder", g.Mark)
		}
	}},
	{"Release/Once", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long))
		release(t, e, h, true)
		_, next := mustAcquire(t, e, e.request(long))
		release(t, e, h, false)
		renew(t, e, next, true)
	}},
	{"Release/UnknownName", func(t *testing.T, e *env) {
		release(t, e, driver.Holding{Name: e.name, Holder: "unknown", TTL: long}, false)
		mustAcquire(t, e, e.request(long))
	}},
	{"Release/WithoutToken", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long))
		release(t, e, driver.Holding{Name: h.Name, Slot: h.Slot, Holder: h.Holder, TTL: h.TTL},
			true)
		mustAcquire(t, e, e.request(long))
	}},
	{"Capabilities/NameAndScope", func(t *testing.T, e *env) {
		if capabilities := e.Capabilities(); capabilities.Name == "" ||
			capabilities.Scope > driver.Cluster || capabilities != e.h.Open(t).Capabilities() {
			t.Errorf("Capabilities = %+v, want a name and a known scope, "+
				"the same on each connection", capabilities)
		}
	}},
}
