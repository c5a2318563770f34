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

func TestLease_Renewal(t *testing.T) {
	t.Run("extends the lease until it is released", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
			for range 3600 {
				<-time.After(time.Second)
				checkErr(t, lease, nil)
				if _, err := l.Lease(t.Context(), "job", ttl); !errors.Is(err, xlease.ErrHeld) {
					t.Fatalf("second holder got %v, want ErrHeld", err)
				}
			}
			if n := s.Renewed(); n < 530 || n > 550 {
				t.Errorf("%d renewals in an hour, want about 540", n)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			checkErr(t, lease, xlease.ErrReleased)
		})
	})

	// The deadline is counted from before the last successful request: the renewal after
	// 20/3 s.
	t.Run("fails until the lease is lost after two thirds of the TTL", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			fault func(s *fakeBackend)
		}{
			{name: "no connection", fault: func(s *fakeBackend) { s.Down = true }},
			{name: "no response", fault: func(s *fakeBackend) { s.Hang = true }},
			{name: "late responses", fault: func(s *fakeBackend) { s.Late = time.Hour }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := captureLog(t)
					l, s := newLeases(t)
					lease := acquire(t, l, "job")
					<-time.After(7 * time.Second)
					if n := s.Renewed(); n != 1 {
						t.Fatalf("%d renewals, want 1", n)
					}
					want := time.Now().Add(20*time.Second - 7*time.Second + 20*time.Second/3)
					if d := lease.Until().Sub(want).Abs(); d > time.Microsecond {
						t.Fatalf("Until = %v, want %v", lease.Until(), want)
					}
					s.Set(tc.fault)
					<-time.After(time.Until(lease.Until()) - time.Nanosecond)
					checkErr(t, lease, nil)
					<-time.After(time.Nanosecond)
					synctest.Wait()
					checkErr(t, lease, xlease.ErrLost)
					if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrLost) {
						t.Errorf("Renew = %v, want ErrLost", err)
					}
					if text := out.String(); strings.Count(text, "lease lost") != 1 ||
						!strings.Contains(text, `"lease":"job"`) {
						t.Errorf("log = %s, want one line about the loss", text)
					}
					s.Set(func(s *fakeBackend) { s.Down, s.Hang, s.Late = false, false, 0 })
					<-time.After(2 * time.Hour) // the late responses arrive
					checkErr(t, lease, xlease.ErrLost)
					if l.Open() != 0 {
						t.Errorf("%d leases are open, want 0 after the loss", l.Open())
					}
				})
			})
		}
	})

	t.Run("is retried at shorter intervals", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
			s.Set(func(s *fakeBackend) { s.Down = true })
			<-time.After(19900 * time.Millisecond)
			if n := s.Renewed(); n < 5 || n > 50 {
				t.Errorf("%d attempts in two thirds of the TTL, want 5 to 50", n)
			}
			checkErr(t, lease, nil)
			s.Set(func(s *fakeBackend) { s.Down = false })
			<-time.After(time.Minute)
			checkErr(t, lease, nil)
		})
	})

	t.Run("detects another holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
			s.Set(func(s *fakeBackend) { s.Stolen = true })
			<-time.After(7 * time.Second) // the first renewal
			checkErr(t, lease, xlease.ErrLost)
			if err := lease.Release(t.Context()); !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Release = %v, want ErrLost", err)
			}
		})
	})
}

func TestLease_Release(t *testing.T) {
	t.Run("returns ErrLost if another holder has the lease", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
			s.Set(func(s *fakeBackend) { s.Stolen = true })
			if err := lease.Release(t.Context()); !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Release of a lease with another holder = %v, want ErrLost", err)
			}
		})
	})

	t.Run("does nothing the second time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
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
			next := acquire(t, l, "job")
			if next.Token() <= lease.Token() {
				t.Errorf("token = %d, want it larger than %d", next.Token(), lease.Token())
			}
			if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrReleased) {
				t.Errorf("Renew after Release = %v, want ErrReleased", err)
			}
			checkErr(t, next, nil)

			s.Set(func(s *fakeBackend) { s.Down = true })
			if err := next.Release(t.Context()); !errors.Is(err, errDown) {
				t.Errorf("Release = %v, want the error of the backend", err)
			}
			checkErr(t, next, xlease.ErrReleased)
		})
	})

	t.Run("cancels a renewal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
			s.Set(func(s *fakeBackend) { s.Hang = true })
			<-time.After(7 * time.Second) // the renewal blocks
			s.Set(func(s *fakeBackend) { s.Hang = false })
			start := time.Now()
			if err := lease.Release(t.Context()); err != nil || time.Since(start) != 0 {
				t.Errorf("Release = %v after %v, want nil at once", err, time.Since(start))
			}
		})
	})

	// The caller's Renew has its own context. Release waits for that Renew, but only
	// until the context of Release is done.
	t.Run("waits for a blocked call until its context is done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job", xlease.WithManualRenewal())
			s.Set(func(s *fakeBackend) { s.Hang = true })
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
					t.Errorf("second call = %v, want DeadlineExceeded with the name", err)
				}
				cancel()
			}
			if elapsed := time.Since(start); elapsed != 2*time.Second {
				t.Errorf("two calls with 1s each took %v, want 2s", elapsed)
			}
			checkErr(t, lease, xlease.ErrReleased)
			calls.Wait()
			s.Set(func(s *fakeBackend) { s.Hang = false })
			if err := lease.Release(t.Context()); err != nil || s.Released() != 1 {
				t.Errorf("Release = %v with %d releases at the backend, want nil and 1",
					err, s.Released())
			}
		})
	})
}

// Err compares the clocks, because timers do not run in a stopped process or on a
// suspended machine.
func TestLease_Err(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		lease := acquire(t, l, "job", xlease.WithManualRenewal())
		lease.Suspend(19 * time.Second)
		checkErr(t, lease, nil)
		lease.Suspend(time.Second)
		checkErr(t, lease, xlease.ErrLost)
		lease.Suspend(-time.Hour) // a clock that is set back does not restore the lease
		checkErr(t, lease, xlease.ErrLost)

		lease = acquire(t, l, "another")
		lease.Suspend(time.Hour)
		if err := lease.Renew(t.Context()); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Renew after a suspension = %v, want ErrLost", err)
		}
		checkErr(t, lease, xlease.ErrLost)
	})
}

func TestWithManualRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := acquire(t, l, "job", xlease.WithManualRenewal())
		for range 10 {
			<-time.After(19 * time.Second)
			if err := lease.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := time.Until(lease.Until()); left != 20*time.Second {
				t.Fatalf("time until the deadline after Renew = %v, want 20s", left)
			}
		}
		if n := s.Renewed(); n != 10 {
			t.Errorf("%d renewals, want 10", n)
		}
		s.Set(func(s *fakeBackend) { s.Down = true })
		if err := lease.Renew(t.Context()); !errors.Is(err, errDown) ||
			!strings.Contains(err.Error(), `"job"`) {
			t.Errorf("Renew = %v, want the error of the backend with the name", err)
		}
		checkErr(t, lease, nil)
		<-time.After(20 * time.Second)
		synctest.Wait()
		checkErr(t, lease, xlease.ErrLost)
	})
}

func TestLeases_Lease_Failure(t *testing.T) {
	t.Run("returns no lease if the response is too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Set(func(s *fakeBackend) { s.Late = 20 * time.Second })
			if _, err := l.Lease(t.Context(), "job", ttl); !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Lease = %v, want ErrLost", err)
			}
			s.Set(func(s *fakeBackend) { s.Late = 0 })
			if l.Open() != 0 {
				t.Errorf("%d leases are open, want 0", l.Open())
			}
			// the late lease was released
			if err := acquire(t, l, "job").Release(t.Context()); err != nil {
				t.Error(err)
			}

			_ = acquire(t, l, "marked", xlease.WithMark(500, 0)).Release(t.Context())
			s.Set(func(s *fakeBackend) { s.Late = 20 * time.Second })
			_, err := l.Lease(t.Context(), "marked", ttl, xlease.WithMark(900, 0))
			if !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Lease = %v, want ErrLost", err)
			}
			s.Set(func(s *fakeBackend) { s.Late = 0 })
			if mark := acquire(t, l, "marked", xlease.WithMark(0, 0)).Mark(); mark != 500 {
				t.Errorf("Mark = %d, want 500, because the late lease was not used", mark)
			}
		})
	})

	t.Run("releases an attempt without response", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Set(func(s *fakeBackend) { s.Hang = true })
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := l.Lease(ctx, "job", ttl); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lease = %v, want DeadlineExceeded", err)
			}
			if elapsed := time.Since(start); elapsed > 1200*time.Millisecond {
				t.Errorf("Lease took %v, want at most 1.2s", elapsed)
			}
			s.Set(func(s *fakeBackend) { s.Hang = false })
			lease := acquire(t, l, "job")
			_ = lease.Release(t.Context())

			// A failed attempt does not change the mark.
			lease = acquire(t, l, "marked", xlease.WithMark(500, 0))
			_ = lease.Release(t.Context())
			s.Set(func(s *fakeBackend) { s.Hang = true })
			ctx2, cancel2 := context.WithTimeout(t.Context(), time.Second)
			defer cancel2()
			if _, err := l.Lease(ctx2, "marked", ttl, xlease.WithMark(100, 0)); err == nil {
				t.Fatal("no error without a response")
			}
			s.Set(func(s *fakeBackend) { s.Hang = false })
			<-time.After(ttl)
			if lease := acquire(t, l, "marked", xlease.WithMark(0, 0)); lease.Mark() != 500 {
				t.Errorf("Mark = %d, want the 500 of the last holder", lease.Mark())
			}
		})
	})
}

func TestLease_Bind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		lease := acquire(t, l, "lost")
		lost, cancel := lease.Bind(t.Context())
		defer cancel()
		s.Set(func(s *fakeBackend) { s.Down = true })
		<-time.After(21 * time.Second)
		if <-lost.Done(); !errors.Is(context.Cause(lost), xlease.ErrLost) {
			t.Errorf("cause = %v, want ErrLost", context.Cause(lost))
		}
		s.Set(func(s *fakeBackend) { s.Down = false })

		lease = acquire(t, l, "released")
		released, cancel2 := lease.Bind(t.Context())
		defer cancel2()
		_ = lease.Release(t.Context())
		if <-released.Done(); !errors.Is(context.Cause(released), xlease.ErrReleased) {
			t.Errorf("cause = %v, want ErrReleased", context.Cause(released))
		}
		late, cancel3 := lease.Bind(t.Context())
		defer cancel3()
		if !errors.Is(context.Cause(late), xlease.ErrReleased) {
			t.Errorf("cause of a released lease = %v, want ErrReleased", context.Cause(late))
		}

		lease = acquire(t, l, "canceled")
		canceled, cancel4 := lease.Bind(t.Context())
		cancel4()
		cancel4()
		if <-canceled.Done(); !errors.Is(context.Cause(canceled), context.Canceled) {
			t.Errorf("cause = %v, want Canceled", context.Cause(canceled))
		}
		checkErr(t, lease, nil)
	})
}

func TestLease_Until(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *fakeBackend) { s.Late = 5 * time.Second })
		lease := acquire(t, l, "job", xlease.WithManualRenewal())
		if left := time.Until(lease.Until()); left != 15*time.Second {
			t.Errorf("time until the deadline after a late response = %v, want 15s", left)
		}
		<-time.After(5 * time.Second)
		if err := lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(lease.Until()); left != 15*time.Second {
			t.Errorf("time until the deadline after a late renewal = %v, want 15s", left)
		}
		s.Set(func(s *fakeBackend) { s.Late = 0 })
	})
}
