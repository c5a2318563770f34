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

func TestLeases_Lease(t *testing.T) {
	t.Run("reports every invalid option", func(t *testing.T) {
		l, _ := newLeases(t)
		_, err := l.Lease(t.Context(), "a name", time.Millisecond, xlease.WithSlots(-1, 0))
		if !errors.Is(err, xlease.ErrOption) {
			t.Fatalf("Lease = %v, want ErrOption", err)
		}
		for _, want := range []string{
			`name "a name"`, "TTL 1ms (accepted: 50ms to 24h0m0s)", "0 slots from -1 on",
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
			"invalid name in Do": func() error { return l.Do(t.Context(), "", ttl, nil) },
		} {
			if err := call(); !errors.Is(err, xlease.ErrOption) {
				t.Errorf("%s: %v, want ErrOption", name, err)
			}
		}
	})
}

func TestNew_NilBackend(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New(nil) did not panic")
		}
	}()
	xlease.New(nil)
}

func TestWithWait(t *testing.T) {
	t.Run("waits for the name", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			lease := acquire(t, l, "job")
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
				t.Error("two callers hold the name")
			}
			s.Set(func(s *fakeBackend) {
				if s.Acquires < 100 || s.Acquires > 600 {
					t.Errorf("%d attempts in a minute, want about two per second", s.Acquires)
				}
			})
			_ = lease.Release(t.Context())
			<-time.After(time.Second)
			if d := time.Duration(got.Load()); d < time.Minute ||
				d > time.Minute+500*time.Millisecond {
				t.Errorf("next holder after %v, want at most 500ms after the release", d)
			}
		})
	})

	t.Run("returns when its context is done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			acquire(t, l, "job")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := l.Lease(ctx, "job", ttl, xlease.WithWait())
			if !errors.Is(err, xlease.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lease = %v, want ErrHeld and DeadlineExceeded", err)
			}
			if _, err := l.Lease(ctx, "free", ttl); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lease with an expired context = %v, want DeadlineExceeded", err)
			}
		})
	})

	t.Run("returns other errors immediately", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Set(func(s *fakeBackend) { s.Down = true })
			start := time.Now()
			_, err := l.Lease(t.Context(), "job", ttl, xlease.WithWait())
			if !errors.Is(err, errDown) || time.Since(start) != 0 {
				t.Errorf("Lease = %v after %v, want the error of the backend at once",
					err, time.Since(start))
			}
		})
	})

	t.Run("grants the name to one caller at a time", func(t *testing.T) {
		l, _ := newLeases(t)
		var inside, most atomic.Int64
		work := func(context.Context, *xlease.Lease) error { //nolint:unparam // signature of Do
			most.Store(max(most.Load(), inside.Add(1)))
			inside.Add(-1)
			return nil
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					if err := l.Do(t.Context(), "job", ttl, work, xlease.WithWait()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if most.Load() != 1 {
			t.Errorf("%d concurrent holders, want 1", most.Load())
		}
	})
}

func TestWithSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		seen := map[int]*xlease.Lease{}
		for range 5 {
			lease := acquire(t, l, "pool", xlease.WithSlots(10, 5))
			if s := lease.Slot(); seen[s] != nil || s < 10 || s > 14 {
				t.Errorf("slot = %d, want a free slot of 10 to 14", s)
			}
			seen[lease.Slot()] = lease
		}
		_, err := l.Lease(t.Context(), "pool", ttl, xlease.WithSlots(10, 5))
		if !errors.Is(err, xlease.ErrHeld) {
			t.Errorf("sixth holder: %v, want ErrHeld", err)
		}
		_ = seen[12].Release(t.Context())
		if lease := acquire(t, l, "pool", xlease.WithSlots(10, 5)); lease.Slot() != 12 {
			t.Errorf("slot = %d, want the free slot 12", lease.Slot())
		}
	})
}

func TestWithMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		next := func(mark, want int64) *xlease.Lease {
			t.Helper()
			lease := acquire(t, l, "marked", xlease.WithMark(mark, 0))
			if lease.Mark() != want {
				t.Errorf("Mark = %d, want %d", lease.Mark(), want)
			}
			return lease
		}
		_ = next(7, 0).Release(t.Context())
		lease := next(3, 7) // 7 is larger, so it is not replaced
		_ = lease.Release(t.Context())
		lease = next(0, 7)
		lease.SetMark(70)
		<-time.After(7 * time.Second) // the renewal stores it
		lease.SetMark(5)              // not stored, because the lease is lost
		lease.Suspend(time.Hour)
		checkErr(t, lease, xlease.ErrLost)
		<-time.After(ttl)
		lease = next(0, 70)
		lease.SetMark(6)
		_ = lease.Release(t.Context())
		next(0, 6)
	})
}

func TestLeases_Do(t *testing.T) {
	t.Run("runs the function while it holds the lease", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			errWork := errors.New("work failed")
			work := func(ctx context.Context, lease *xlease.Lease) error {
				checkErr(t, lease, nil)
				if err := l.Do(ctx, "job", ttl, nil); !errors.Is(err, xlease.ErrHeld) {
					t.Errorf("Do inside Do = %v, want ErrHeld", err)
				}
				return errWork
			}
			err := l.Do(t.Context(), "job", ttl, work)
			if !errors.Is(err, errWork) || errors.Is(err, xlease.ErrLost) || s.Released() != 1 {
				t.Errorf("Do = %v after %d releases, want the error of the function and 1",
					err, s.Released())
			}

			err = l.Do(t.Context(), "job", ttl, func(ctx context.Context, _ *xlease.Lease) error {
				s.Set(func(s *fakeBackend) { s.Stolen = true })
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), xlease.ErrLost) {
					t.Errorf("cause = %v, want ErrLost", context.Cause(ctx))
				}
				return nil
			})
			if !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Do = %v, want ErrLost although the function returned nil", err)
			}
			s.Set(func(s *fakeBackend) { s.Stolen = false })

			func() {
				defer func() { _ = recover() }()
				_ = l.Do(t.Context(), "panic", ttl,
					func(context.Context, *xlease.Lease) error { panic("work failed") })
			}()
			acquire(t, l, "panic") // the lease was released
		})
	})

	t.Run("succeeds if the release fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := captureLog(t)
			l, s := newLeases(t)
			err := l.Do(t.Context(), "job", ttl, func(context.Context, *xlease.Lease) error {
				s.Set(func(s *fakeBackend) { s.Hang = true })
				return nil
			})
			if err != nil {
				t.Errorf("Do = %v, want nil, because the function ran exclusively", err)
			}
			if !strings.Contains(out.String(), "lease not released") ||
				!strings.Contains(out.String(), "LEASE") {
				t.Errorf("log = %s, want a warning of the logger LEASE", out)
			}
		})
	})
}

func TestLeases_Close(t *testing.T) {
	t.Run("releases all leases", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			a, b := acquire(t, l, "a"), acquire(t, l, "b")
			lost := acquire(t, l, "lost")
			lost.Suspend(time.Hour)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			checkErr(t, a, xlease.ErrReleased)
			checkErr(t, b, xlease.ErrReleased)
			checkErr(t, lost, xlease.ErrLost)
			if s.Released() != 3 {
				t.Errorf("%d releases, want 3", s.Released())
			}
			if _, err := l.Lease(t.Context(), "c", ttl); !errors.Is(err, xlease.ErrClosed) {
				t.Errorf("Lease = %v, want ErrClosed", err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("second Close = %v", err)
			}
		})
	})

	t.Run("releases a lease that is being acquired", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Set(func(s *fakeBackend) { s.Late = time.Second })
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
				t.Errorf("Lease = %v, %d released; want ErrClosed and 1", err, s.Released())
			}
		})
	})

	t.Run("waits for a limited time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			acquire(t, l, "job")
			s.Set(func(s *fakeBackend) { s.Hang = true })
			start := time.Now()
			if err := l.Close(); !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(start) != 5*time.Second {
				t.Errorf("Close = %v after %v, want DeadlineExceeded after 5s",
					err, time.Since(start))
			}
		})
		synctest.Test(t, func(t *testing.T) { // also during a renewal by the caller
			l, s := newLeases(t)
			lease := acquire(t, l, "job", xlease.WithManualRenewal())
			s.Set(func(s *fakeBackend) { s.Hang = true })
			var renewal sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			renewal.Go(func() { _ = lease.Renew(ctx) })
			synctest.Wait()
			start := time.Now()
			if err := l.Close(); !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(start) != 5*time.Second {
				t.Errorf("Close during a renewal = %v after %v, want DeadlineExceeded after 5s",
					err, time.Since(start))
			}
			cancel()
			renewal.Wait()
		})
	})
}

func TestLeases_String(t *testing.T) {
	l, _ := newLeases(t)
	if got, want := l.String(), "memory (scope: process)"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	if !l.Capabilities().Durable {
		t.Error("Durable = false, want true")
	}
	lease := acquire(t, l, "job")
	if lease.Name() != "job" || lease.Slot() != 0 || lease.Age() > time.Minute {
		t.Errorf("name, slot, age = %q, %d, %v", lease.Name(), lease.Slot(), lease.Age())
	}
}

func TestGetLeases(t *testing.T) {
	l, _ := newLeases(t)
	ctx := context.WithValue(t.Context(), xctx.LeasesKey, l)
	if got := xlease.MustGetLeases(ctx); got != l {
		t.Errorf("MustGetLeases = %v, want the leases", got)
	}
	if _, err := xlease.GetLeases(t.Context()); err == nil ||
		err.GetErrorCode() != xerror.ConfigError {
		t.Errorf("GetLeases without leases = %v, want a ConfigError", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustGetLeases did not panic")
		}
	}()
	xlease.MustGetLeases(nil) //nolint:staticcheck // a nil context is tested
}
