package xlease_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

func TestARenewalKeepsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		for range 3600 {
			<-time.After(time.Second)
			held(t, lease, nil)
			if _, err := l.Lease(t.Context(), "job", ttl); !errors.Is(err, xlease.ErrHeld) {
				t.Fatalf("a second holder got %v, want ErrHeld", err)
			}
		}
		if n := s.Renewed(); n < 530 || n > 550 {
			t.Errorf("%d renewals in an hour, want one every third of two thirds of the TTL, which are 540", n)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		held(t, lease, xlease.ErrReleased)
	})
}

// The end is counted from before the last request that was answered: at 20/3 s there was
// a renewal, then there is none.
func TestALeaseIsLostWhenTwoThirdsOfItsTTLAreOverAndNeverLater(t *testing.T) {
	for _, tc := range []struct {
		name   string
		breaks func(s *shaky)
	}{
		{name: "no connection", breaks: func(s *shaky) { s.Down = true }},
		{name: "no answer", breaks: func(s *shaky) { s.Hang = true }},
		{name: "late answers", breaks: func(s *shaky) { s.Late = time.Hour }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := capture(t)
				l, s := newLeases(t)
				lease := take(t, l, "job")
				<-time.After(7 * time.Second)
				if n := s.Renewed(); n != 1 {
					t.Fatalf("%d renewals, want 1", n)
				}
				want := time.Now().Add(20*time.Second - 7*time.Second + 20*time.Second/3)
				if d := lease.Until().Sub(want).Abs(); d > time.Microsecond {
					t.Fatalf("Until = %v, want %v", lease.Until(), want)
				}
				s.Set(tc.breaks)
				<-time.After(time.Until(lease.Until()) - time.Nanosecond)
				held(t, lease, nil)
				<-time.After(time.Nanosecond)
				synctest.Wait()
				held(t, lease, xlease.ErrLost)
				if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrLost) {
					t.Errorf("Renew = %v, want ErrLost", err)
				}
				if text := out.String(); strings.Count(text, "lease lost") != 1 ||
					!strings.Contains(text, `"lease":"job"`) {
					t.Errorf("log = %s, want one line of the loss", text)
				}
				s.Set(func(s *shaky) { s.Down, s.Hang, s.Late = false, false, 0 })
				<-time.After(2 * time.Hour) // the late answers come
				held(t, lease, xlease.ErrLost)
				if l.Open() != 0 {
					t.Errorf("%d leases are open, want the lost one forgotten", l.Open())
				}
			})
		})
	}
}

func TestABackendThatFailsForAWhileIsAskedAgainEverSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		s.Set(func(s *shaky) { s.Down = true })
		<-time.After(19900 * time.Millisecond)
		if n := s.Renewed(); n < 5 || n > 50 {
			t.Errorf("%d attempts in two thirds of the TTL, want a few, and no storm", n)
		}
		held(t, lease, nil)
		s.Set(func(s *shaky) { s.Down = false })
		<-time.After(time.Minute)
		held(t, lease, nil)
	})
}

func TestALeaseThatSomebodyElseHasIsLostAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		s.Set(func(s *shaky) { s.Stolen = true })
		<-time.After(7 * time.Second) // the first renewal
		held(t, lease, xlease.ErrLost)
		if err := lease.Release(t.Context()); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Release = %v, want ErrLost", err)
		}
	})
}

func TestReleaseTellsWhoWasNotAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		s.Set(func(s *shaky) { s.Stolen = true })
		if err := lease.Release(t.Context()); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Release of a lease that somebody else has = %v, want ErrLost", err)
		}
	})
}

// Err looks at the clocks: a process that was stopped, or a machine that was suspended,
// has run no timer.
func TestErrSaysWhatTheAlarmCouldNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		lease := take(t, l, "job", xlease.WithManualRenewal())
		lease.Suspend(19 * time.Second)
		held(t, lease, nil)
		lease.Suspend(time.Second)
		held(t, lease, xlease.ErrLost)
		lease.Suspend(-time.Hour) // a clock that was set back heals nothing
		held(t, lease, xlease.ErrLost)

		lease = take(t, l, "another")
		lease.Suspend(time.Hour)
		if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Renew after a night's sleep = %v, want ErrLost", err)
		}
		held(t, lease, xlease.ErrLost)
	})
}

func TestAManualLeaseIsTheCallersToRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job", xlease.WithManualRenewal())
		for range 10 {
			<-time.After(19 * time.Second)
			if err := lease.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := time.Until(lease.Until()); left != 20*time.Second {
				t.Fatalf("a renewed lease lasts for %v, want 20s", left)
			}
		}
		if n := s.Renewed(); n != 10 {
			t.Errorf("%d renewals, want the caller's 10", n)
		}
		s.Set(func(s *shaky) { s.Down = true })
		if err := lease.Renew(t.Context()); !errors.Is(err, errDown) ||
			!strings.Contains(err.Error(), `"job"`) {
			t.Errorf("Renew = %v, want the backend's error, with the name", err)
		}
		held(t, lease, nil)
		<-time.After(20 * time.Second)
		synctest.Wait()
		held(t, lease, xlease.ErrLost)
	})
}

func TestAnAnswerThatComesTooLateGivesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *shaky) { s.Late = 20 * time.Second })
		if _, err := l.Lease(t.Context(), "job", ttl); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Lease = %v, want ErrLost", err)
		}
		s.Set(func(s *shaky) { s.Late = 0 })
		if l.Open() != 0 {
			t.Errorf("%d leases are open, want none", l.Open())
		}
		// the late one was given back
		if err := take(t, l, "job").Release(t.Context()); err != nil {
			t.Error(err)
		}

		_ = take(t, l, "marked", xlease.WithMark(500, 0)).Release(t.Context())
		s.Set(func(s *shaky) { s.Late = 20 * time.Second })
		if _, err := l.Lease(t.Context(), "marked",
			ttl, xlease.WithMark(900, 0)); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Lease = %v, want ErrLost", err)
		}
		s.Set(func(s *shaky) { s.Late = 0 })
		if mark := take(t, l, "marked", xlease.WithMark(0, 0)).Mark(); mark != 500 {
			t.Errorf("Mark = %d, want 500 of the last holder, since nothing was done under the late one", mark)
		}
	})
}

func TestAnAttemptWithoutAnAnswerIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *shaky) { s.Hang = true })
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Lease(ctx, "job", ttl); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lease = %v, want DeadlineExceeded", err)
		}
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("it took %v, want the deadline of 1s and little more", took)
		}
		s.Set(func(s *shaky) { s.Hang = false })
		lease := take(t, l, "job")
		_ = lease.Release(t.Context())

		// The mark of a marked name stays, whatever happened.
		lease = take(t, l, "marked", xlease.WithMark(500, 0))
		_ = lease.Release(t.Context())
		s.Set(func(s *shaky) { s.Hang = true })
		again, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := l.Lease(again, "marked", ttl, xlease.WithMark(100, 0)); err == nil {
			t.Fatal("no error without an answer")
		}
		s.Set(func(s *shaky) { s.Hang = false })
		<-time.After(ttl)
		if lease := take(t, l, "marked", xlease.WithMark(0, 0)); lease.Mark() != 500 {
			t.Errorf("Mark = %d, want 500 of the last holder", lease.Mark())
		}
	})
}

func TestASecondReleaseDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := s.Released(); n != 1 {
			t.Errorf("%d releases at the backend, want 1", n)
		}
		next := take(t, l, "job")
		if next.Token() <= lease.Token() {
			t.Errorf("token %d follows %d", next.Token(), lease.Token())
		}
		if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrReleased) {
			t.Errorf("Renew after Release = %v, want ErrReleased", err)
		}
		held(t, next, nil)

		s.Set(func(s *shaky) { s.Down = true })
		if err := next.Release(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("Release = %v, want the backend's error", err)
		}
		held(t, next, xlease.ErrReleased)
	})
}

func TestReleaseInterruptsARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		s.Set(func(s *shaky) { s.Hang = true })
		<-time.After(7 * time.Second) // it hangs
		s.Set(func(s *shaky) { s.Hang = false })
		start := time.Now()
		if err := lease.Release(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("Release = %v after %v, want nil at once", err, time.Since(start))
		}
	})
}

// The caller's own renewal has a context of its own, so a release waits for its end, and
// no longer than its own context.
func TestACallThatHangsHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job", xlease.WithManualRenewal())
		s.Set(func(s *shaky) { s.Hang = true })
		var calls sync.WaitGroup
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			_ = lease.Renew(ctx)
		})
		synctest.Wait()
		start := time.Now()
		for _, call := range []func(context.Context) error{lease.Renew, lease.Release} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) ||
				!strings.Contains(err.Error(), `"job"`) {
				t.Errorf("a second call = %v, want DeadlineExceeded, with the name", err)
			}
			cancel()
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("two calls with a second each took %v", took)
		}
		held(t, lease, xlease.ErrReleased)
		calls.Wait()
		s.Set(func(s *shaky) { s.Hang = false })
		if err := lease.Release(t.Context()); err != nil || s.Released() != 1 {
			t.Errorf("Release = %v with %d at the backend, want it made up for", err, s.Released())
		}
	})
}

func TestBindEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "lost")
		lost, cancel := lease.Bind(t.Context())
		defer cancel()
		s.Set(func(s *shaky) { s.Down = true })
		<-time.After(21 * time.Second)
		if <-lost.Done(); !errors.Is(context.Cause(lost), xlease.ErrLost) {
			t.Errorf("cause = %v, want ErrLost", context.Cause(lost))
		}
		s.Set(func(s *shaky) { s.Down = false })

		lease = take(t, l, "released")
		released, cancel2 := lease.Bind(t.Context())
		defer cancel2()
		_ = lease.Release(t.Context())
		if <-released.Done(); !errors.Is(context.Cause(released), xlease.ErrReleased) {
			t.Errorf("cause = %v, want ErrReleased", context.Cause(released))
		}
		late, cancel3 := lease.Bind(t.Context())
		defer cancel3()
		if !errors.Is(context.Cause(late), xlease.ErrReleased) {
			t.Errorf("cause of a lease that had ended = %v, want ErrReleased at once",
				context.Cause(late))
		}

		lease = take(t, l, "cancelled")
		cancelled, cancel4 := lease.Bind(t.Context())
		cancel4()
		cancel4()
		if <-cancelled.Done(); !errors.Is(context.Cause(cancelled), context.Canceled) {
			t.Errorf("cause = %v, want Canceled", context.Cause(cancelled))
		}
		held(t, lease, nil)
	})
}

func TestTheEndIsCountedFromTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *shaky) { s.Late = 5 * time.Second })
		lease := take(t, l, "job", xlease.WithManualRenewal())
		if left := time.Until(lease.Until()); left != 15*time.Second {
			t.Errorf("a lease lasts for %v after a late answer, want 15s", left)
		}
		<-time.After(5 * time.Second)
		if err := lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(lease.Until()); left != 15*time.Second {
			t.Errorf("a lease lasts for %v after a late renewal, want 15s", left)
		}
		s.Set(func(s *shaky) { s.Late = 0 })
	})
}
