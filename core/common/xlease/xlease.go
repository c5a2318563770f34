// Package xlease provides exclusive use of a name for a limited time, among the processes
// that share a database or a cache server. Use it to assign a node ID to one process, to
// run a job once, or to let one process write a file.
//
//	lease, err := leases.Lease(ctx, "nightly-report", 30*time.Second)
//	if errors.Is(err, xlease.ErrHeld) {
//		return nil // another replica runs the job
//	}
//	defer lease.Release(ctx)
//
// A lease is renewed until it is released. Done reports the loss of a lease. Do runs a
// function while it holds a lease.
//
// # Guarantees
//
// After each renewal, the record at the backend lasts for the TTL. The holder considers
// the lease lost after two thirds of the TTL, on the monotonic clock or on the wall
// clock. That time starts before the request is sent. The last third compensates for
// clocks with different speeds, and for a renewal that a cache server lost in a failover.
//
// A lease cannot stop a process that pauses between checking its lease and writing. To
// protect data, pass Token to the data store, which must reject a token smaller than the
// last one. Alternatively call Err immediately before the write and accept the remaining
// risk. A database retains every confirmed record. A cache server may lose its memory, or
// fail over to a replica without the record. It may then grant a name to a second holder
// before the first holder notices.
//
// # Backends
//
// Use xdb.Leases for a database and the Leases method of a cache manager for a cache
// server. New with InDirectory serves the processes of one host, and New with InProcess
// one process. Package driver defines the backend interface, and the conformance suite
// leasetest tests backends.
package xlease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	randv2 "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// Limits of a TTL.
const (
	minTTL = 50 * time.Millisecond
	MaxTTL = 24 * time.Hour
)

const (
	maxName = 200     // bytes
	maxSlot = 1 << 20 // slots of one name
)

// LeaseWindow returns how long a holder relies on its lease after a renewal with the
// given TTL.
func LeaseWindow(ttl time.Duration) time.Duration { return ttl / 3 * 2 }

// Leases creates leases of one backend. It is safe for concurrent use.
type Leases struct {
	backend driver.Backend
	log     *xlog.LogNamedLogger

	mu     sync.Mutex
	closed atomic.Bool // set while mu is held
	open   map[*Lease]struct{}
}

// New returns the leases of b. It panics if b is nil.
func New(b driver.Backend) *Leases {
	if b == nil {
		panic("xlease: nil backend")
	}
	registerMapper()
	return &Leases{backend: b, log: xlog.WithName(xlog.NamedLEASE), open: map[*Lease]struct{}{}}
}

// Backend returns the backend that was passed to New.
func (l *Leases) Backend() driver.Backend { return l.backend }

// Capabilities returns the properties of the backend.
func (l *Leases) Capabilities() driver.Capabilities { return l.backend.Capabilities() }

// String describes the backend and its scope.
func (l *Leases) String() string {
	c := l.backend.Capabilities()
	return fmt.Sprintf("%s (scope: %s)", c.Name, c.Scope)
}

// Prepare creates the resources that the backend needs for leases, such as a table. If
// Prepare is not called, the first lease creates them. Call Prepare to detect failures at
// startup.
func (l *Leases) Prepare(ctx context.Context) error {
	if l.closed.Load() {
		return ErrClosed
	}
	if p, ok := l.backend.(driver.Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// LeaseOption configures one lease.
type LeaseOption func(*request)

type request struct {
	driver.Request
	wait, manual, marked bool
}

// WithWait waits for the name until ctx is done, instead of returning ErrHeld
// immediately. Waiting callers are not served in order.
func WithWait() LeaseOption { return func(r *request) { r.wait = true } }

// WithSlots grants each of n holders its own slot, from first to first+n-1. Use it for
// semaphores and node IDs. All holders of a name must agree on whether it has one slot or
// several.
func WithSlots(first, n int) LeaseOption {
	return func(r *request) { r.First, r.Count = first, n }
}

// WithMark stores mark in the slot for the next holder, unless the stored mark is larger.
// Lease.Mark returns the mark of the former holder. Free slots with a mark of at most
// past are preferred. If one holder of a name uses WithMark, all must use it.
func WithMark(mark, past int64) LeaseOption {
	return func(r *request) { r.Mark, r.Past, r.marked = mark, past, true }
}

// WithManualRenewal disables the automatic renewal. The caller must call Renew.
func WithManualRenewal() LeaseOption { return func(r *request) { r.manual = true } }

// Lease acquires the name for ttl, which must be 50ms to MaxTTL, and renews it until it
// is released or lost. It returns ErrHeld if another holder has the name, and ErrLost if
// the response is too late. ctx limits the acquisition, not the lease.
func (l *Leases) Lease(
	ctx context.Context, name string, ttl time.Duration, opts ...LeaseOption,
) (*Lease, error) {
	r, err := newRequest(name, ttl, opts)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var held error
	for pause := (xretry.Backoff{First: minPoll, Max: maxPoll}); ; {
		lease, left, err := l.tryLease(ctx, r)
		switch {
		case err == nil:
			return lease, nil
		case r.wait && errors.Is(err, ErrHeld):
			held = err
		case held != nil && ctx.Err() != nil:
			return nil, errors.Join(held, context.Cause(ctx))
		default:
			return nil, err
		}
		if xretry.Sleep(ctx, min(pause.Next(), max(left, minPoll))) != nil {
			return nil, errors.Join(held, context.Cause(ctx))
		}
	}
}

// Pauses between attempts WithWait.
const (
	minPoll = 10 * time.Millisecond
	maxPoll = 500 * time.Millisecond
)

func newRequest(name string, ttl time.Duration, opts []LeaseOption) (request, error) {
	r := request{Request: driver.Request{
		Name: name, Count: 1,
		TTL: (ttl + time.Millisecond - 1).Truncate(time.Millisecond),
	}}
	for _, o := range opts {
		o(&r)
	}
	var problems []error
	if !validName(name) {
		problems = append(problems,
			fmt.Errorf("%w: name %q (accepted: 1 to %d printable ASCII characters without spaces)",
				ErrOption, name, maxName))
	}
	if ttl < minTTL || ttl > MaxTTL {
		problems = append(problems,
			fmt.Errorf("%w: TTL %s (accepted: %s to %s)", ErrOption, ttl, minTTL, MaxTTL))
	}
	if r.First < 0 || r.Count < 1 || r.First > maxSlot || r.Count > maxSlot-r.First {
		problems = append(problems,
			fmt.Errorf("%w: %d slots from %d on (accepted: at least one slot, up to slot %d)",
				ErrOption, r.Count, r.First, maxSlot-1))
	} else {
		r.Begin = r.First + randv2.IntN(r.Count)
	}
	return r, errors.Join(problems...)
}

// validName reports whether all backends support the name.
func validName(name string) bool {
	invalid := func(r rune) bool { return r <= ' ' || r > '~' }
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, invalid)
}

// tryLease sends one request to the backend. If the error is ErrHeld, the duration is the
// time until the name becomes free unless it is renewed.
func (l *Leases) tryLease(ctx context.Context, r request) (*Lease, time.Duration, error) {
	if l.closed.Load() {
		return nil, 0, ErrClosed
	}
	r.Holder = rand.Text()
	requested := time.Now()
	grant, err := l.backend.Acquire(ctx, r.Request)
	switch {
	case err != nil:
		l.cancelAttempt(ctx, r)
		return nil, 0, fmt.Errorf("xlease: acquire %q: %w", r.Name, err)
	case !grant.OK:
		return nil, grant.Wait, fmt.Errorf("%w: %q", ErrHeld, r.Name)
	}
	h := driver.Holding{
		Name: r.Name, Slot: grant.Slot, Holder: r.Holder, Token: grant.Token,
		TTL: r.TTL, Mark: max(grant.Mark, r.Mark),
	}
	lease, err := l.start(h, grant, deadlineAt(requested.Add(LeaseWindow(r.TTL))), r.manual)
	if err != nil {
		h.Mark = grant.Mark // the lease was not used
		_, releaseErr := l.backend.Release(ctx, h)
		return nil, 0, errors.Join(fmt.Errorf("%w: %q", err, r.Name), releaseErr)
	}
	return lease, 0, nil
}

// cancelAttempt releases a lease that a failed attempt may have acquired. If the release
// fails too, the record expires.
func (l *Leases) cancelAttempt(ctx context.Context, r request) {
	if r.Count != 1 || r.marked {
		return // the slot, or the mark to restore, is unknown
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, _ = l.backend.Release(ctx,
		driver.Holding{Name: r.Name, Slot: r.First, Holder: r.Holder, TTL: r.TTL})
}

// cancelTimeout limits how long a caller waits beyond its own deadline.
const cancelTimeout = 100 * time.Millisecond

// start starts a lease and registers it for Close. It fails if the deadline has passed or
// l is closed.
func (l *Leases) start(
	h driver.Holding, g driver.Grant, until deadline, manual bool,
) (*Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed.Load():
		return nil, ErrClosed
	case until.passed():
		return nil, ErrLost
	}
	lease := newLease(l, h, g, until, manual)
	l.open[lease] = struct{}{}
	return lease, nil
}

func (l *Leases) remove(lease *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, lease)
}

// Do runs fn while it holds the name, and returns the error of fn. If the lease is lost,
// the context of fn is canceled with the cause ErrLost, and Do returns ErrLost regardless
// of the result of fn. With WithWait, Do first waits for the name.
func (l *Leases) Do(
	ctx context.Context, name string, ttl time.Duration,
	fn func(ctx context.Context, lease *Lease) error, opts ...LeaseOption,
) (err error) {
	lease, err := l.Lease(ctx, name, ttl, opts...)
	if err != nil {
		return err
	}
	bound, cancel := lease.Bind(ctx)
	defer cancel()
	defer func() {
		releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx),
			min(LeaseWindow(ttl), closeTimeout))
		defer cancel()
		releaseErr := lease.Release(releaseCtx)
		switch {
		case errors.Is(releaseErr, ErrLost):
			err = errors.Join(err, releaseErr)
		case releaseErr != nil: // fn ran exclusively, and the record expires
			l.log.Warn(ctx, "lease not released",
				slog.String("lease", name), slog.Any("error", releaseErr))
		}
	}()
	return fn(bound, lease)
}

// Join acquires or renews a name for a group, for ttl from now. Processes that join with
// the same group share the name. The name is never released; it expires ttl after the
// last call. Join returns ErrHeld if another group holds the name.
func (l *Leases) Join(ctx context.Context, name, group string, ttl time.Duration) error {
	r, err := newRequest(name, ttl, nil)
	if err != nil {
		return err
	}
	r.Holder = group
	acquire := func() (bool, error) {
		grant, err := l.backend.Acquire(ctx, r.Request)
		return grant.OK, err
	}
	renew := func() (bool, error) {
		return l.backend.Renew(ctx, driver.Holding{Name: name, Holder: group, Token: 1, TTL: r.TTL})
	}
	// another process of the group may acquire the name first
	for _, try := range []func() (bool, error){renew, acquire, renew} {
		held, err := try()
		switch {
		case err != nil:
			return fmt.Errorf("xlease: join %q: %w", name, err)
		case held:
			return nil
		}
	}
	return fmt.Errorf("%w: %q", ErrHeld, name)
}

// Close releases every lease and closes a backend that is an io.Closer. Later requests
// return ErrClosed. A second Close does nothing.
func (l *Leases) Close() error {
	l.mu.Lock()
	wasClosed, open := l.closed.Swap(true), l.open
	l.open = map[*Lease]struct{}{}
	l.mu.Unlock()
	if wasClosed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	errs := make(chan error, len(open))
	for lease := range open {
		go func() { errs <- lease.Release(ctx) }()
	}
	var all []error
	for range open {
		if err := <-errs; !errors.Is(err, ErrLost) {
			all = append(all, err)
		}
	}
	if b, ok := l.backend.(io.Closer); ok {
		all = append(all, b.Close())
	}
	return errors.Join(all...)
}

// closeTimeout limits how long Close waits for the backend.
const closeTimeout = 5 * time.Second
