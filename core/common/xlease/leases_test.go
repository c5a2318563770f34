package xlease_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestEveryWrongOptionIsReportedAtOnce(t *testing.T) {
	l, _ := newLeases(t)
	_, err := l.Lease(t.Context(), "a name", time.Millisecond, xlease.WithSlots(-1, 0))
	if !errors.Is(err, xlease.ErrOption) {
		t.Fatalf("Lease = %v, want ErrOption", err)
	}
	for _, want := range []string{
		`the name "a name"`, "TTL 1ms (accepted: 50ms to 24h0m0s)",
		"0 slots from -1 on",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q in it", err, want)
		}
	}
	for name, call := range map[string]func() error{
		"no name": func() error { _, err := l.Lease(t.Context(), "", ttl); return err },
		"long name": func() error {
			_, err := l.Lease(t.Context(), strings.Repeat("n", 201), ttl)
			return err
		},
		"umlaut":  func() error { _, err := l.Lease(t.Context(), "tür", ttl); return err },
		"newline": func() error { _, err := l.Lease(t.Context(), "a\nb", ttl); return err },
		"long TTL": func() error {
			_, err := l.Lease(t.Context(), "n", 25*time.Hour)
			return err
		},
		"negative": func() error { _, err := l.Lease(t.Context(), "n", -ttl); return err },
		"many slots": func() error {
			_, err := l.Lease(t.Context(), "n", ttl, xlease.WithSlots(0, 1<<20+1))
			return err
		},
		"high slots": func() error {
			_, err := l.Lease(t.Context(), "n", ttl, xlease.WithSlots(1<<20, 1))
			return err
		},
		"wrong in Do": func() error { return l.Do(t.Context(), "", ttl, nil) },
	} {
		if err := call(); !errors.Is(err, xlease.ErrOption) {
			t.Errorf("%s: %v, want ErrOption", name, err)
		}
	}
}

func TestNewWithoutABackendPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New(nil) did not panic")
		}
	}()
	xlease.New(nil)
}

func TestWithWaitWaitsForTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := take(t, l, "job")
		var got atomic.Int64
		start := time.Now()
		go func() {
			next, err := l.Lease(t.Context(), "job", ttl, xlease.WithWait())
			if err != nil {
				t.Error(err)
				return
			}
			got.Store(int64(time.Since(start)))
			_ = next.Release(t.Context())
		}()
		<-time.After(time.Minute)
		if got.Load() != 0 {
			t.Error("the name has two holders")
		}
		s.Set(func(s *shaky) {
			if s.Acquires < 100 || s.Acquires > 600 {
				t.Errorf("%d attempts in a minute, want about two a second", s.Acquires)
			}
		})
		_ = lease.Release(t.Context())
		<-time.After(time.Second)
		if d := time.Duration(got.Load()); d < time.Minute || d > time.Minute+500*time.Millisecond {
			t.Errorf("the next holder came after %v, want at most half a second after the release",
				d)
		}
	})
}

func TestWithWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		take(t, l, "job")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := l.Lease(ctx, "job", ttl, xlease.WithWait())
		if !errors.Is(err, xlease.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lease = %v, want ErrHeld and DeadlineExceeded", err)
		}
		if _, err := l.Lease(ctx, "free", ttl); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lease with a context that has ended = %v, want DeadlineExceeded", err)
		}
	})
}

func TestWithWaitGivesOtherErrorsBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *shaky) { s.Down = true })
		start := time.Now()
		if _, err := l.Lease(t.Context(), "job",
			ttl, xlease.WithWait()); !errors.Is(err, errDown) || time.Since(start) != 0 {
			t.Errorf("Lease = %v after %v, want the backend's error at once",
				err, time.Since(start))
		}
	})
}

func TestOneOfManyWaitersGetsTheNameAtATime(t *testing.T) {
	l, _ := newLeases(t)
	var inside, most atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				err := l.Do(t.Context(), "job", ttl, func(context.Context, *xlease.Lease) error {
					most.Store(max(most.Load(), inside.Add(1)))
					inside.Add(-1)
					return nil
				}, xlease.WithWait())
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time, want 1", most.Load())
	}
}

func TestEachHolderHasASlotOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		seen := map[int]*xlease.Lease{}
		for range 5 {
			lease := take(t, l, "pool", xlease.WithSlots(10, 5))
			if s := lease.Slot(); seen[s] != nil || s < 10 || s > 14 {
				t.Errorf("slot %d, want one of 10 to 14 that is free", s)
			}
			seen[lease.Slot()] = lease
		}
		if _, err := l.Lease(t.Context(), "pool",
			ttl, xlease.WithSlots(10, 5)); !errors.Is(err, xlease.ErrHeld) {
			t.Errorf("a sixth holder got %v, want ErrHeld", err)
		}
		_ = seen[12].Release(t.Context())
		if lease := take(t, l, "pool", xlease.WithSlots(10, 5)); lease.Slot() != 12 {
			t.Errorf("slot %d, want 12, which is free", lease.Slot())
		}
	})
}

func TestTheMarkGoesToTheNextHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		next := func(mark, want int64) *xlease.Lease {
			t.Helper()
			lease := take(t, l, "marked", xlease.WithMark(mark, 0))
			if lease.Mark() != want {
				t.Errorf("Mark = %d, want %d", lease.Mark(), want)
			}
			return lease
		}
		_ = next(7, 0).Release(t.Context())
		lease := next(3, 7) // 7 is larger and stays
		_ = lease.Release(t.Context())
		lease = next(0, 7)
		lease.SetMark(70)
		<-time.After(7 * time.Second) // it is renewed
		lease.SetMark(5)              // and not written any more
		lease.Suspend(time.Hour)
		held(t, lease, xlease.ErrLost)
		<-time.After(ttl)
		lease = next(0, 70)
		lease.SetMark(6)
		_ = lease.Release(t.Context())
		next(0, 6)
	})
}

func TestDoRunsUnderALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		errWork := errors.New("no paper")
		err := l.Do(t.Context(), "job", ttl, func(ctx context.Context, lease *xlease.Lease) error {
			held(t, lease, nil)
			if err := l.Do(ctx, "job", ttl, nil); !errors.Is(err, xlease.ErrHeld) {
				t.Errorf("Do inside = %v, want ErrHeld", err)
			}
			return errWork
		})
		if !errors.Is(err, errWork) || errors.Is(err, xlease.ErrLost) || s.Released() != 1 {
			t.Errorf("Do = %v after %d releases, want the function's error and one",
				err, s.Released())
		}

		err = l.Do(t.Context(), "job", ttl, func(ctx context.Context, _ *xlease.Lease) error {
			s.Set(func(s *shaky) { s.Stolen = true })
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), xlease.ErrLost) {
				t.Errorf("cause = %v, want ErrLost", context.Cause(ctx))
			}
			return nil
		})
		if !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Do = %v, want ErrLost though the function was content", err)
		}
		s.Set(func(s *shaky) { s.Stolen = false })

		func() {
			defer func() { _ = recover() }()
			_ = l.Do(t.Context(), "panic",
				ttl, func(context.Context, *xlease.Lease) error { panic("no paper") })
		}()
		take(t, l, "panic") // is free
	})
}

func TestDoneWorkIsDoneAlsoWhereTheNameCannotBeGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		l, s := newLeases(t)
		err := l.Do(t.Context(), "job", ttl, func(context.Context, *xlease.Lease) error {
			s.Set(func(s *shaky) { s.Hang = true })
			return nil
		})
		if err != nil {
			t.Errorf("Do = %v, want nil: the work was done alone", err)
		}
		if !strings.Contains(out.String(), "lease not released") ||
			!strings.Contains(out.String(), "LEASE") {
			t.Errorf("log = %s, want a line of it in the log of leases", out)
		}
	})
}

func TestCloseReleasesAllAndRefusesMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		a, b := take(t, l, "a"), take(t, l, "b")
		lost := take(t, l, "lost")
		lost.Suspend(time.Hour)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		held(t, a, xlease.ErrReleased)
		held(t, b, xlease.ErrReleased)
		held(t, lost, xlease.ErrLost)
		if s.Released() != 3 {
			t.Errorf("%d releases, want 3", s.Released())
		}
		if _, err := l.Lease(t.Context(), "c", ttl); !errors.Is(err, xlease.ErrClosed) {
			t.Errorf("Lease = %v, want ErrClosed", err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("a second Close = %v", err)
		}
	})
}

func TestALeaseThatComesWhileClosingIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *shaky) { s.Late = time.Second })
		result := make(chan error)
		go func() {
			_, err := l.Lease(t.Context(), "job", ttl)
			result <- err
		}()
		<-time.After(500 * time.Millisecond)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-result; !errors.Is(err, xlease.ErrClosed) || s.Released() != 1 {
			t.Errorf("Lease = %v, %d released; want ErrClosed and the record given back",
				err, s.Released())
		}
	})
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		take(t, l, "job")
		s.Set(func(s *shaky) { s.Hang = true })
		start := time.Now()
		if err := l.Close(); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != 5*time.Second {
			t.Errorf("Close = %v after %v, want DeadlineExceeded after 5s", err, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) { // nor for a renewal of the caller's
		l, s := newLeases(t)
		lease := take(t, l, "job", xlease.WithManualRenewal())
		s.Set(func(s *shaky) { s.Hang = true })
		var renewal sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		renewal.Go(func() { _ = lease.Renew(ctx) })
		synctest.Wait()
		start := time.Now()
		if err := l.Close(); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != 5*time.Second {
			t.Errorf("Close beside a renewal = %v after %v, want DeadlineExceeded after 5s",
				err, time.Since(start))
		}
		cancel()
		renewal.Wait()
	})
}

func TestLeasesSayWhereTheyAreKept(t *testing.T) {
	l, _ := newLeases(t)
	if got, want := l.String(), "memory, between all of one process"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	if !l.Capabilities().Durable {
		t.Error("the memory of this process forgets")
	}
	lease := take(t, l, "job")
	if lease.Name() != "job" || lease.Slot() != 0 || lease.Age() > time.Minute {
		t.Errorf("name, slot, age = %q, %d, %v", lease.Name(), lease.Slot(), lease.Age())
	}
}

func TestTheContextCarriesTheLeases(t *testing.T) {
	l, _ := newLeases(t)
	ctx := context.WithValue(t.Context(), xctx.LeasesKey, l)
	if got := xlease.MustGetLeases(ctx); got != l {
		t.Errorf("MustGetLeases = %v, want the leases", got)
	}
	if _, err := xlease.GetLeases(t.Context()); err == nil ||
		err.GetErrorCode() != xerror.ConfigError {
		t.Errorf("GetLeases without any = %v, want a ConfigError", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustGetLeases did not panic")
		}
	}()
	xlease.MustGetLeases(nil) //nolint:staticcheck // a nil context is what is tested
}
