package leasetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// wantDistinct fails the test if the backend does not distinguish all names.
func (e *env) wantDistinct(t *testing.T, names []string) {
	t.Helper()
	var all []driver.Holding
	for _, name := range names {
		g, h := try(t, e, e.request(long, func(r *driver.Request) { r.Name = name }))
		if !g.OK {
			t.Fatalf("name %q is equal to one of %q", name, names[:len(all)])
		}
		all = append(all, h)
	}
	for _, h := range all {
		mustNotAcquire(t, e, e.request(long, func(r *driver.Request) { r.Name = h.Name }))
		renew(t, e, h, true)
		release(t, e, h, true)
	}
}

var nameChecks = []check{
	{"Names/AllCharacters", func(t *testing.T, e *env) {
		var names []string
		for c := '!'; c <= '~'; c++ {
			names = append(names, e.name+string(c))
		}
		e.wantDistinct(t, append(names, e.name))
	}},
	{"Names/QuotesPatternsAndCase", func(t *testing.T, e *env) {
		var names []string
		for _, end := range []string{
			"a", "A", "ab", "a*", "a?", "[ab]", "a%", "a_", `a\`, `a\\`, "a'", "a''", `a"`, `a""`,
			"a`", "a;--", "{a}", "{b}", "a:0", "a:1",
			"a/..", "$1", ":1", "@p1", "?", "%s", "%00", "a,b", "(a)", "a#", "--", "/*",
		} {
			names = append(names, e.name+end, end+e.name)
		}
		e.wantDistinct(t, names)
	}},
	{"Names/Longest", func(t *testing.T, e *env) {
		base := e.name + strings.Repeat("x", 199-len(e.name))
		e.wantDistinct(t, []string{base + "y", base + "Y", base + "z", base})
	}},
	{"Names/Shortest", func(t *testing.T, e *env) {
		for _, name := range []string{"!", "~"} { // another run may hold the name
			_, h := await(t, e,
				e.request(50*time.Millisecond, func(r *driver.Request) { r.Name = name }),
				time.Now())
			if _, err := e.Release(t.Context(), h); err != nil {
				t.Error(err)
			}
		}
	}},
}

var contextChecks = []check{
	{"Context/AlreadyCanceled", func(t *testing.T, e *env) {
		_, h := mustAcquire(t, e, e.request(long))
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		expired, cancelExpired := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancelExpired()
		for ctx, want := range map[context.Context]error{
			canceled: context.Canceled,
			expired:  context.DeadlineExceeded,
		} {
			start := time.Now()
			_, err1 := e.Acquire(ctx, e.request(long))
			_, err2 := e.Renew(ctx, h)
			_, err3 := e.Release(ctx, h)
			for what, err := range map[string]error{
				"Acquire": err1, "Renew": err2, "Release": err3,
			} {
				if !errors.Is(err, want) {
					t.Errorf("%s = %v, want %v", what, err, want)
				}
			}
			if d := time.Since(start); d > time.Second {
				t.Errorf("three calls took %s, want at most 1 s", d)
			}
		}
		renew(t, e, h, true)
	}},
	{"Context/CanceledDuringCall", func(t *testing.T, e *env) {
		for i := range 20 { // cancel at different moments
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
			r := e.request(long)
			start := time.Now()
			g, err := e.Acquire(ctx, r)
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("Acquire returned after %s, want it to return at its deadline", d)
			}
			cancel()
			switch {
			case err != nil && !errors.Is(err, context.DeadlineExceeded):
				t.Fatalf("Acquire = %v, want DeadlineExceeded", err)
			case err != nil: // the lease may be held, with an unknown token
				_, err = e.Release(t.Context(),
					driver.Holding{Name: r.Name, Holder: r.Holder, TTL: r.TTL})
			case g.OK:
				_, err = e.Release(t.Context(),
					driver.Holding{Name: r.Name, Holder: r.Holder, TTL: r.TTL, Token: g.Token})
			}
			if err != nil {
				t.Fatalf("Release: %v", err)
			}
		}
	}},
}

var raceChecks = []check{
	{"Race/OneHolderAtATime", func(t *testing.T, e *env) {
		const rounds, racers = 200, 16
		connections := []driver.Backend{e, e.h.Open(t), e.h.Open(t), e.h.Open(t)}
		var inside, done, token atomic.Int64
		var wg sync.WaitGroup
		for i := range racers {
			b := connections[i%len(connections)]
			wg.Go(func() {
				for done.Load() < rounds && !t.Failed() {
					r := e.request(time.Minute)
					g, err := b.Acquire(t.Context(), r)
					if err != nil {
						t.Errorf("Acquire: %v", err)
						return
					}
					if !g.OK {
						sleep(time.Millisecond)
						continue
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d holders at once", n)
					}
					if last := token.Swap(g.Token); last >= g.Token {
						t.Errorf("token = %d, want more than %d", g.Token, last)
					}
					sleep(time.Millisecond) // so that other holders try concurrently
					done.Add(1)
					inside.Add(-1)
					if held, err := b.Release(t.Context(), driver.Holding{
						Name: r.Name, Holder: r.Holder, Token: g.Token, TTL: r.TTL,
					}); !held || err != nil {
						t.Errorf("Release = %t, %v", held, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}},
	{"Race/ExpiredLease", func(t *testing.T, e *env) {
		connections := []driver.Backend{e, e.h.Open(t), e.h.Open(t), e.h.Open(t)}
		_, last := mustAcquire(t, e, e.request(50*time.Millisecond))
		for range 5 {
			sleep(60 * time.Millisecond)
			var won atomic.Int64
			var winner atomic.Pointer[driver.Holding]
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					r := e.request(long)
					g, err := connections[i%len(connections)].Acquire(t.Context(), r)
					if err != nil {
						t.Errorf("Acquire: %v", err)
					}
					if g.OK {
						won.Add(1)
						winner.Store(&driver.Holding{
							Name: r.Name, Holder: r.Holder, Token: g.Token,
							TTL: 50 * time.Millisecond,
						})
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d of 8 acquired the expired lease, want 1", won.Load())
			}
			renew(t, e, last, false)
			last = *winner.Load()
			renew(t, e, last, true) // expires soon
		}
	}},
}
