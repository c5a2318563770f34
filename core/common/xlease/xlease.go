// Package xlease is exclusive use of a name for a limited time: one owner of a number,
// one run of a job, one writer of a file, among the processes that share a database or a
// cache server.
//
//	lease, err := leases.Lease(ctx, "nightly-report", 30*time.Second)
//	if errors.Is(err, xlease.ErrHeld) {
//		return nil // another replica is at it
//	}
//	defer lease.Release(ctx)
//
// A lease is renewed until it is released, and Done tells of its loss. Do runs a function
// under one.
//
// # What it promises, and what not
//
// The record at the backend lasts for the TTL after each renewal; the holder takes the
// lease for lost when two thirds of it are over, counted from before the request, by the
// monotonic clock and by the wall clock. The last third is for clocks that run at
// different speeds, and for a renewal that a cache server forgot when its replica took
// over.
//
// No lease of this kind can stop a process that sleeps between looking at its lease and
// writing. Whoever guards data with one passes Token, which grows from holder to holder,
// to where the data is kept, and refuses a smaller one than the last there; or looks at
// Err right before, and accepts what the clocks leave open. A database forgets nothing
// that it has confirmed. A cache server that loses its memory, or fails over to a replica
// that had not got the record, may give a name to a second holder before the first has
// noticed.
//
// # Backends
//
// A *Leases comes from xdb.Leases for a database, from a cache manager's Leases, or from
// New with InFolder for the processes of one host or InProcess for those of one process.
// Package driver says what a backend does, and leasetest tests one.
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

// The bounds of a TTL.
const (
	minTTL = 50 * time.Millisecond
	MaxTTL = 24 * time.Hour
)

const (
	maxName = 200     // bytes
	maxSlot = 1 << 20 // slots of one name
)

// LeaseWindow is how much of the TTL after its last renewal a holder relies on its lease.
func LeaseWindow(ttl time.Duration) time.Duration { return ttl / 3 * 2 }

// Leases gives out leases of one backend. It is safe for concurrent use.
type Leases struct {
	backend driver.Backend
	log     *xlog.LogNamedLogger

	mu     sync.Mutex
	closed atomic.Bool // set while mu is held
	open   map[*Lease]struct{}
}

// New returns the leases that b keeps. It panics if b is nil.
func New(b driver.Backend) *Leases {
	if b == nil {
		panic("xlease: leases without a backend")
	}
	registerMapper()
	return &Leases{backend: b, log: xlog.WithName(xlog.NamedLEASE), open: map[*Lease]struct{}{}}
}

// Backend returns what New was given.
func (l *Leases) Backend() driver.Backend { return l.backend }

// Capabilities says what the backend's records are worth.
func (l *Leases) Capabilities() driver.Capabilities { return l.backend.Capabilities() }

// String names the backend and between whom it decides, for people.
func (l *Leases) String() string {
	t := l.backend.Capabilities()
	return fmt.Sprintf("%s, between all of one %s", t.Name, t.Scope)
}

// Prepare sets up what the backend needs for leases, such as its table. The first lease
// does so by itself; an application that is certain to need one learns of a failure
// earlier.
func (l *Leases) Prepare(ctx context.Context) error {
	if l.closed.Load() {
		return ErrClosed
	}
	if p, ok := l.backend.(driver.Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// LeaseOption changes one request for a lease.
type LeaseOption func(*request)

type request struct {
	driver.Request
	wait, manual, marked bool
}

// WithWait waits for the name until ctx ends, instead of giving ErrHeld at once. Nobody
// is served in the order of asking.
func WithWait() LeaseOption { return func(r *request) { r.wait = true } }

// WithSlots gives one of n holders a slot of its own, first to first+n-1: a semaphore, or
// n node IDs to share out. All holders of a name agree on whether it has one slot or
// more.
func WithSlots(first, n int) LeaseOption {
	return func(r *request) { r.First, r.Count = first, n }
}

// WithMark leaves mark in the slot for its next holder, unless what is there already is
// larger. Lease.Mark is what the holder before has left. Where there are several free
// slots, one whose mark is at most past is preferred. Of a name that has marks, every
// holder asks with WithMark.
func WithMark(mark, past int64) LeaseOption {
	return func(r *request) { r.Mark, r.Past, r.marked = mark, past, true }
}

// WithManualRenewal leaves the renewal to the caller of Renew.
func WithManualRenewal() LeaseOption { return func(r *request) { r.manual = true } }

// Lease takes the name for ttl, which must be minTTL to MaxTTL, and renews it until it is
// released or lost. The error is ErrHeld where somebody else has it, or ErrLost where the
// answer came too late to be of use. ctx bounds the taking, not the lease.
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
		lease, left, err := l.try(ctx, r)
		switch {
		case err == nil:
			return lease, nil
		case r.wait && errors.Is(err, ErrHeld):
			held = err
		case held != nil && ctx.Err() != nil: // while it asked again
			return nil, errors.Join(held, context.Cause(ctx))
		default:
			return nil, err
		}
		if xretry.Sleep(ctx, min(pause.Next(), max(left, minPoll))) != nil {
			return nil, errors.Join(held, context.Cause(ctx))
		}
	}
}

// Who waits for a name asks this often.
const (
	minPoll = 10 * time.Millisecond
	maxPoll = 500 * time.Millisecond
)

// newRequest reports everything that is wrong.
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
			fmt.Errorf("%w: the name %q (accepted: 1 to %d printable ASCII characters without spaces)", ErrOption, name, maxName))
	}
	if ttl < minTTL || ttl > MaxTTL {
		problems = append(problems,
			fmt.Errorf("%w: TTL %s (accepted: %s to %s)", ErrOption, ttl, minTTL, MaxTTL))
	}
	if r.First < 0 || r.Count < 1 || r.First > maxSlot || r.Count > maxSlot-r.First {
		problems = append(problems,
			fmt.Errorf("%w: %d slots from %d on (accepted: at least one, up to number %d)",
				ErrOption, r.Count, r.First, maxSlot-1))
	} else {
		r.Begin = r.First + randv2.IntN(r.Count)
	}
	return r, errors.Join(problems...)
}

// validName reports whether every backend can keep the name.
func validName(name string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, odd)
}

// try asks the backend once. With ErrHeld comes how long the name is held at most, unless
// it is renewed.
func (l *Leases) try(ctx context.Context, r request) (*Lease, time.Duration, error) {
	if l.closed.Load() {
		return nil, 0, ErrClosed
	}
	r.Holder = rand.Text()
	asked := time.Now()
	grant, err := l.backend.Acquire(ctx, r.Request)
	switch {
	case err != nil:
		l.undo(ctx, r)
		return nil, 0, fmt.Errorf("xlease: take %q: %w", r.Name, err)
	case !grant.OK:
		return nil, grant.Wait, fmt.Errorf("%w: %q", ErrHeld, r.Name)
	}
	h := driver.Holding{
		Name: r.Name, Slot: grant.Slot, Holder: r.Holder, Token: grant.Token,
		TTL: r.TTL, Mark: max(grant.Mark, r.Mark),
	}
	lease, err := l.start(h, grant, deadlineAt(asked.Add(LeaseWindow(r.TTL))), r.manual)
	if err != nil {
		h.Mark = grant.Mark // nothing was done under it
		_, release := l.backend.Release(ctx, h)
		return nil, 0, errors.Join(fmt.Errorf("%w: %q", err, r.Name), release)
	}
	return lease, 0, nil
}

// undo lets go of what an attempt may have taken whose answer did not come. Where that
// fails too, the record ends by itself.
func (l *Leases) undo(ctx context.Context, r request) {
	if r.Count != 1 || r.marked {
		return // nobody knows which slot it is, or which mark a release has to leave there
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	_, _ = l.backend.Release(ctx,
		driver.Holding{Name: r.Name, Slot: r.First, Holder: r.Holder, TTL: r.TTL})
}

// undoTimeout bounds what a caller waits for beyond its own deadline.
const undoTimeout = 100 * time.Millisecond

// start starts a lease and remembers it for Close, unless it is too late for either.
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

func (l *Leases) forget(lease *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, lease)
}

// Do runs fn while it holds the name, and returns its error. The context of fn ends, with
// the cause ErrLost, when the lease is lost; Do then returns ErrLost too, whatever fn
// says. With WithWait it waits for the name first.
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
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx),
			min(LeaseWindow(ttl), closeTimeout))
		defer cancel()
		released := lease.Release(own)
		switch {
		case errors.Is(released, ErrLost):
			err = errors.Join(err, released)
		case released != nil: // fn did its work alone, and the record ends by itself
			l.log.Warn(ctx, "lease not released",
				slog.String("lease", name), slog.Any("error", released))
		}
	}()
	return fn(bound, lease)
}

// Join holds a name for a group, for ttl after the last call: every process that joins
// with the same group holds it together with the others, and nothing is released. The
// error is ErrHeld if another group holds the name.
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
	// another process of the group may be faster
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

// Close releases every lease, refuses new ones, and closes a backend that is an
// io.Closer. A second Close does nothing.
func (l *Leases) Close() error {
	l.mu.Lock()
	done, open := l.closed.Swap(true), l.open
	l.open = map[*Lease]struct{}{}
	l.mu.Unlock()
	if done {
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

// closeTimeout bounds how long Close waits for the backend.
const closeTimeout = 5 * time.Second
