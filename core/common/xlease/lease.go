package xlease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// minPause keeps a failing backend from being asked without a pause.
const minPause = 10 * time.Millisecond

// Lease is the exclusive use of a name, or of one of its slots. It is safe for concurrent
// use.
type Lease struct {
	leases *Leases
	h      driver.Holding // but for the mark
	grant  driver.Grant
	mark   atomic.Int64

	call     chan struct{} // full during a call to the backend, see enter
	released bool          // the backend was told; guarded by call

	life context.Context         // ends with the lease, and ErrLost or ErrReleased
	kill context.CancelCauseFunc // of life

	mu    sync.Mutex // guards what follows, and the end of life; never held during a call
	until deadline
	alarm *time.Timer

	renewal sync.WaitGroup
}

// deadline is a moment by both clocks: the monotonic one stands still while a machine is
// suspended.
type deadline struct{ at, wall time.Time }

func deadlineAt(t time.Time) deadline { return deadline{at: t, wall: t.Round(0)} }

func (d deadline) passed() bool {
	now := time.Now()
	return !now.Before(d.at) || !now.Round(0).Before(d.wall)
}

// newLease returns a lease until a moment, with its alarm, and its renewal unless that is
// the caller's.
func newLease(l *Leases, h driver.Holding, g driver.Grant, until deadline, manual bool) *Lease {
	lease := &Lease{leases: l, h: h, grant: g, until: until, call: make(chan struct{}, 1)}
	lease.life, lease.kill = context.WithCancelCause(context.Background())
	lease.mark.Store(h.Mark)
	lease.mu.Lock() // the alarm may go off at once
	defer lease.mu.Unlock()
	lease.alarm = time.AfterFunc(time.Until(until.at), lease.ring)
	if !manual {
		lease.renewal.Go(func() { lease.Keep(context.Background(), lease.Renew) })
	}
	return lease
}

// Name returns what is leased.
func (l *Lease) Name() string { return l.h.Name }

// Slot returns the number of the slot; 0 for a name that has one only.
func (l *Lease) Slot() int { return l.h.Slot }

// Token returns the fencing token: a number that is larger than that of every earlier
// holder of the slot.
func (l *Lease) Token() int64 { return l.h.Token }

// Mark returns what the holder before has left in the slot; 0 where there was none.
func (l *Lease) Mark() int64 { return l.grant.Mark }

// Age returns how long, when the lease was taken, the backend had records of the name
// without a gap: less than the TTL means that it may have forgotten a holder, unless it
// is durable.
func (l *Lease) Age() time.Duration { return l.grant.Age }

// Until returns when the holder stops to rely on the lease, unless it is renewed before.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until.at
}

// Done is closed when the lease has ended: lost or released. While the process is
// stopped, or the machine suspended, nothing is closed: Err is what tells who has just
// woken up.
func (l *Lease) Done() <-chan struct{} { return l.life.Done() }

// Err returns nil as long as the lease can be relied on, then ErrLost, or ErrReleased
// after Release. It looks at the clocks. What it has returned once, it returns for ever.
func (l *Lease) Err() error {
	l.ring()
	return context.Cause(l.life)
}

// ring ends the lease where its time is over. The alarm may go off just when it was
// renewed.
func (l *Lease) ring() {
	l.mu.Lock()
	over := l.until.passed()
	l.mu.Unlock()
	if over {
		l.lose("it was not renewed in time")
	}
}

// Bind returns a child of ctx that ends, with the cause ErrLost or ErrReleased, when the
// lease has ended.
func (l *Lease) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if err := l.Err(); err != nil {
		cancel(err)
	}
	stop := context.AfterFunc(l.life, func() { cancel(l.Err()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// SetMark changes what the next holder gets to see, for a lease that was asked for
// WithMark. It is written with the next renewal where it is larger than what is there,
// and with the release in any case.
func (l *Lease) SetMark(mark int64) { l.mark.Store(mark) }

// Renew lets the lease last for its TTL from now on. The error is ErrLost where somebody
// else holds it, or where its time was over before the answer came; any other one leaves
// the lease as it is.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.Err(); err != nil {
		return err // without waiting for a call that hangs
	}
	if err := l.enter(ctx); err != nil {
		return fmt.Errorf("xlease: renew %q: %w", l.h.Name, err)
	}
	defer l.leave()
	if err := l.Err(); err != nil {
		return err
	}
	asked := time.Now()
	held, err := l.leases.backend.Renew(ctx, l.holding())
	if err != nil {
		return fmt.Errorf("xlease: renew %q: %w", l.h.Name, err)
	}
	if !held {
		l.lose("somebody else holds it")
		return ErrLost
	}
	if !l.extend(deadlineAt(asked.Add(LeaseWindow(l.h.TTL)))) {
		l.lose("the answer to its renewal came too late")
	}
	return l.Err()
}

// Keep calls renew until ctx or the lease ends: after a third of the time that is left,
// so that a failure is followed by further attempts at ever shorter intervals. It is for
// a lease WithManualRenewal for which more is to be done than Renew, which renew calls.
func (l *Lease) Keep(ctx context.Context, renew func(ctx context.Context) error) {
	ctx, cancel := l.Bind(ctx)
	defer cancel()
	for {
		third := max(time.Until(l.Until())/3, minPause)
		if xretry.Sleep(ctx, third) != nil {
			return
		}
		attempt, stop := context.WithTimeout(ctx, third)
		_ = renew(attempt) // where the lease lasts, the next attempt follows
		stop()
	}
}

// enter waits, as long as ctx runs, for the end of another call to the backend. leave
// follows.
func (l *Lease) enter(ctx context.Context) error {
	select {
	case l.call <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Lease) leave() { <-l.call }

// extend sets the end, unless the lease has ended by now.
func (l *Lease) extend(until deadline) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil || l.until.passed() {
		return false
	}
	l.until = until
	l.alarm.Reset(time.Until(until.at))
	return true
}

// holding is what the backend is told of the lease.
func (l *Lease) holding() driver.Holding {
	h := l.h
	h.Mark = l.mark.Load()
	return h
}

// lose ends the lease without the holder's wish.
func (l *Lease) lose(reason string) {
	if l.end(ErrLost) {
		l.leases.log.Slog().Warn("lease lost",
			slog.String("lease", l.h.Name), slog.Int("slot", l.h.Slot),
			slog.String("reason", reason))
	}
}

// end ends the lease and reports whether it lasted until then.
func (l *Lease) end(why error) bool {
	l.mu.Lock()
	lasted := l.life.Err() == nil
	l.kill(why) // the first one counts
	l.alarm.Stop()
	l.mu.Unlock()
	l.leases.forget(l)
	return lasted
}

// Release gives the name back; a second Release does nothing. The error is ErrLost where
// the lease had ended before: what was done under it may not have been done alone. Where
// the backend does not answer, or a Renew of the caller's does not end before ctx, the
// record ends by itself.
func (l *Lease) Release(ctx context.Context) error {
	lost := errors.Is(l.Err(), ErrLost)
	l.end(ErrReleased)
	l.renewal.Wait()
	held, err := false, l.enter(ctx)
	if err == nil {
		defer l.leave()
		if l.released {
			return nil
		}
		l.released = true
		held, err = l.leases.backend.Release(ctx, l.holding())
	}
	switch {
	case lost, err == nil && !held:
		return fmt.Errorf("%w: %q", ErrLost, l.h.Name)
	case err != nil:
		return fmt.Errorf("xlease: release %q: %w", l.h.Name, err)
	}
	return nil
}
