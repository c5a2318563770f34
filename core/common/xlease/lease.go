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

// minPause limits the rate of requests to a failing backend.
const minPause = 10 * time.Millisecond

// Lease is the exclusive use of a name or of one of its slots. It is safe for concurrent
// use.
type Lease struct {
	leases *Leases
	h      driver.Holding // without the mark
	grant  driver.Grant
	mark   atomic.Int64

	calling  chan struct{} // contains an element during a call to the backend; see lock
	released bool          // released at the backend; guarded by calling

	ctx    context.Context // canceled with ErrLost or ErrReleased
	cancel context.CancelCauseFunc

	// guards the fields below and the cancellation of ctx; never held during a call
	mu    sync.Mutex
	until deadline
	timer *time.Timer

	renewal sync.WaitGroup
}

// deadline is a time on the monotonic clock and on the wall clock. The monotonic clock
// stops while the machine is suspended.
type deadline struct{ at, wall time.Time }

func deadlineAt(t time.Time) deadline { return deadline{at: t, wall: t.Round(0)} }

func (d deadline) passed() bool {
	now := time.Now()
	return !now.Before(d.at) || !now.Round(0).Before(d.wall)
}

// newLease returns a lease and starts its timer. It starts the renewal unless manual is
// set.
func newLease(l *Leases, h driver.Holding, g driver.Grant, until deadline, manual bool) *Lease {
	lease := &Lease{leases: l, h: h, grant: g, until: until, calling: make(chan struct{}, 1)}
	lease.ctx, lease.cancel = context.WithCancelCause(context.Background())
	lease.mark.Store(h.Mark)
	lease.mu.Lock() // the timer may fire immediately
	defer lease.mu.Unlock()
	lease.timer = time.AfterFunc(time.Until(until.at), lease.expire)
	if !manual {
		lease.renewal.Go(func() { lease.Keep(context.Background(), lease.Renew) })
	}
	return lease
}

// Name returns the leased name.
func (l *Lease) Name() string { return l.h.Name }

// Slot returns the slot, or 0 for a name with one slot.
func (l *Lease) Slot() int { return l.h.Slot }

// Token returns the fencing token. It is larger than the token of every earlier holder of
// the slot.
func (l *Lease) Token() int64 { return l.h.Token }

// Mark returns the mark of the former holder of the slot, or 0.
func (l *Lease) Mark() int64 { return l.grant.Mark }

// Age returns the time for which the backend had stored records of the name without
// interruption when the lease was acquired. If it is less than the TTL and the backend is
// not durable, the backend may have lost the record of a former holder.
func (l *Lease) Age() time.Duration { return l.grant.Age }

// Until returns the time at which the lease is lost unless it is renewed.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until.at
}

// Done returns a channel that is closed when the lease is lost or released. The channel
// is not closed while the process is stopped or the machine is suspended. After such a
// pause, use Err.
func (l *Lease) Done() <-chan struct{} { return l.ctx.Done() }

// Err returns nil while the lease is valid, ErrLost if it is lost, and ErrReleased after
// Release. It compares the clocks with the deadline. Once it returns an error, it always
// returns that error.
func (l *Lease) Err() error {
	l.expire()
	return context.Cause(l.ctx)
}

// expire marks the lease as lost if its deadline has passed. It checks the deadline,
// because the timer may fire just after a renewal.
func (l *Lease) expire() {
	l.mu.Lock()
	passed := l.until.passed()
	l.mu.Unlock()
	if passed {
		l.lose("not renewed in time")
	}
}

// Bind returns a child of ctx. The child is canceled with the cause ErrLost or
// ErrReleased when the lease is lost or released.
func (l *Lease) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if err := l.Err(); err != nil {
		cancel(err)
	}
	stop := context.AfterFunc(l.ctx, func() { cancel(l.Err()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// SetMark sets the mark for the next holder, for a lease acquired WithMark. The next
// renewal stores it if it is larger than the stored mark. Release always stores it.
func (l *Lease) SetMark(mark int64) { l.mark.Store(mark) }

// Renew extends the lease by its TTL from now. It returns ErrLost if another holder has
// the lease or the deadline passed before the response. After other errors the lease is
// unchanged.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.Err(); err != nil {
		return err // do not wait for a blocked call
	}
	if err := l.lock(ctx); err != nil {
		return fmt.Errorf("xlease: renew %q: %w", l.h.Name, err)
	}
	defer l.unlock()
	if err := l.Err(); err != nil {
		return err
	}
	requested := time.Now()
	held, err := l.leases.backend.Renew(ctx, l.holding())
	if err != nil {
		return fmt.Errorf("xlease: renew %q: %w", l.h.Name, err)
	}
	if !held {
		l.lose("held by another holder")
		return ErrLost
	}
	if !l.extend(deadlineAt(requested.Add(LeaseWindow(l.h.TTL)))) {
		l.lose("renewal response too late")
	}
	return l.Err()
}

// Keep calls renew until ctx is done or the lease is lost or released. Before each call
// it waits for a third of the remaining time, so the intervals become shorter after a
// failure. Use it for a lease WithManualRenewal whose renewal requires more than a call
// of Renew. renew must call Renew.
func (l *Lease) Keep(ctx context.Context, renew func(ctx context.Context) error) {
	ctx, cancel := l.Bind(ctx)
	defer cancel()
	for {
		third := max(time.Until(l.Until())/3, minPause)
		if xretry.Sleep(ctx, third) != nil {
			return
		}
		attempt, stop := context.WithTimeout(ctx, third)
		_ = renew(attempt) // while the lease is valid, the next attempt follows
		stop()
	}
}

// lock waits for other calls to the backend, or until ctx is done. If lock returns nil,
// the caller must call unlock.
func (l *Lease) lock(ctx context.Context) error {
	select {
	case l.calling <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Lease) unlock() { <-l.calling }

// extend sets the deadline, unless the lease is lost or released. It reports whether it
// set the deadline.
func (l *Lease) extend(until deadline) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil || l.until.passed() {
		return false
	}
	l.until = until
	l.timer.Reset(time.Until(until.at))
	return true
}

func (l *Lease) holding() driver.Holding {
	h := l.h
	h.Mark = l.mark.Load()
	return h
}

// lose marks the lease as lost and logs the reason.
func (l *Lease) lose(reason string) {
	if l.finish(ErrLost) {
		l.leases.log.Slog().Warn("lease lost",
			slog.String("lease", l.h.Name), slog.Int("slot", l.h.Slot),
			slog.String("reason", reason))
	}
}

// finish cancels the lease and reports whether it was valid.
func (l *Lease) finish(cause error) bool {
	l.mu.Lock()
	valid := l.ctx.Err() == nil
	l.cancel(cause) // only the first cause counts
	l.timer.Stop()
	l.mu.Unlock()
	l.leases.remove(l)
	return valid
}

// Release releases the lease. A second Release does nothing. Release returns ErrLost if
// the lease was lost before, because another holder may have been active. If the backend
// does not respond, Release returns an error and the record expires. The same applies if
// a Renew of the caller does not return before ctx is done.
func (l *Lease) Release(ctx context.Context) error {
	lost := errors.Is(l.Err(), ErrLost)
	l.finish(ErrReleased)
	l.renewal.Wait()
	held, err := false, l.lock(ctx)
	if err == nil {
		defer l.unlock()
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
